// The pybind11 peer. Fairness: compiled with -O3. pybind11 has no DLPack: its arrays are NumPy's. three is what its documentation
// shows for dense arrays, with noconvert, which spares the attempt to convert; three_untyped takes any array and looks at its
// size alone, which asks less than any other peer does.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <stdexcept>

namespace py = pybind11;

using Vector = py::array_t<double, py::array::c_style>;

template <class Array>
static void same_size(const Array &a, const Array &b, const Array &c) {
    if (auto n = a.size(); n != b.size() || n != c.size())
        throw py::value_error("the arrays differ in size");
}

PYBIND11_MODULE(peer_pybind11, m) {
    m.def("new", [](py::ssize_t n) { return py::array_t<double>(n); }); // not zeroed: NumPy's own allocation
    m.def("nothing", [] {});
    m.def("scalars", [](double x, long n, bool flag) {
        if (flag && double(n) > x)
            throw py::value_error("n is above x");
    });
    m.def("one", [](const Vector &a) {
        if (a.size() == 0)
            throw py::value_error("a is empty");
    }, py::arg("a").noconvert());
    m.def("three", &same_size<Vector>, py::arg("a").noconvert(), py::arg("b").noconvert(), py::arg("c").noconvert());
    m.def("three_untyped", &same_size<py::array>);
}
