// The nanobind peer. Fairness: compiled with -O3 (its CMake module offers no more), each function takes the cheapest type that
// nanobind's documentation recommends for the job. Dtype, rank, layout and device are stated in the type, so that they are
// checked before the body runs, as they are for our functions; noconvert refuses what does not fit instead of copying it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

namespace nb = nanobind;

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Any rank and layout, as our views have them.
using View = nb::ndarray<const double, nb::device::cpu>;

// What nanobind gives Python for an array that it owns: nb::array_api names its own class, which has __dlpack__ and the buffer
// protocol. Without a framework the result would be a bare capsule, which can be used once and costs less.
using Owned = nb::ndarray<nb::array_api, double, nb::ndim<1>>;

// Keeps an array alive, so that an import can be measured as ours is: a Python object at the end of it.
using Any = nb::ndarray<nb::ro>; // without ro, arrays that may only be read, as JAX's are, would be refused
struct Array {
    Any held;
};

template <class Array> static void same_size(Array a, Array b, Array c) {
    if (size_t n = a.size(); n != b.size() || n != c.size())
        throw std::invalid_argument("the arrays differ in size");
}

static Owned new_vector(size_t n) {
    void *data = std::calloc(n ? n : 1, sizeof(double)); // ours are zeroed as well
    if (!data)
        throw std::bad_alloc();
    return Owned(data, {n}, nb::capsule(data, [](void *p) noexcept { std::free(p); }));
}

NB_MODULE(peer_nanobind, m) {
    nb::class_<Array>(m, "Array").def("__init__", [](Array *self, Any x) { new (self) Array{std::move(x)}; });
    m.def("new", &new_vector);
    m.def("nothing", [] {});
    m.def("scalars", [](double x, long n, bool flag) {
        if (flag && double(n) > x)
            throw std::invalid_argument("n is above x");
    });
    m.def("one", [](Vector a) {
        if (a.size() == 0)
            throw std::invalid_argument("a is empty");
    }, nb::arg("a").noconvert());
    auto a = nb::arg("a").noconvert(), b = nb::arg("b").noconvert(), c = nb::arg("c").noconvert();
    m.def("three", &same_size<Vector>, a, b, c);
    m.def("three_strided", &same_size<View>, a, b, c);
    m.def("three_released", &same_size<Vector>, a, b, c, nb::call_guard<nb::gil_scoped_release>());
}
