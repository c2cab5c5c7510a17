// Package pyglue turns Go functions over tensors into functions of a Python extension module.
//
// An author declares functions: no CPython API, no reference counts. The only C is the function by which Python finds the
// module, the same in every extension; docs/go.md shows it, and how the whole is built.
//
//	func init() {
//		m := pyglue.Module("linalg")
//		m.Def("matmul", pyglue.Args("a", "b"), pyglue.Doc("The product of two matrices."),
//			pyglue.Func2(linalg.MatMul[float64]), pyglue.Func2(linalg.MatMul[float32]))
//	}
//
// Names are Python identifiers in ASCII, and stand once: Module and Def panic over a declaration that cannot work.
//
// Func0 to Func8 adapt functions with so many parameters that return one result and an error; Func2R0 is for functions of two
// parameters without a result, Func2R3 for those with three. FuncContext2 is for a function with a context.Context before two.
//
// # Arguments
//
// A parameter of type safe.View[T] takes an array of any library that speaks DLPack, or any Python buffer, whose dtype is
// T; safe.MutView[T] wants writable memory; safe.AnyView takes every dtype; *safe.Tensor keeps the memory alive beyond the
// call. float64, int, int64, bool, complex128, string and []byte take the Python values of those kinds, and what converts
// to them without loss: scalars of NumPy, arrays without axes, whatever has __index__ or __float__. No number is taken for
// a bool, no bool for an int, nothing complex for a float64. []byte is a copy of bytes, or of any buffer of bytes in a row.
// Optional[T] may be left out, or be None. A context.Context, as first parameter, is no argument in Python: it is canceled
// by Ctrl-C.
//
// Views are borrowed: their memory is there until the function returns and no longer. Keep a *safe.Tensor, or a copy.
// After safe.SetDebug, which an init function may call, a view that was kept is an error wherever it is used; without, it may
// be anything.
//
// # Results
//
// A function returns up to three results and an error. *safe.Tensor is handed over to Python; scalars become Python's. An
// error becomes the exception that Raise says, with the name of the function in front of the message. Without Raise it is a
// ValueError, unless it is one of these: safe.ErrMemory is a MemoryError, safe.ErrDType a TypeError, safe.ErrIndex an
// IndexError; safe.ErrDevice, safe.ErrReadOnly, safe.ErrOverlap, safe.ErrReleased and ffi.ErrInvalid are a BufferError, the last
// unless it is about a shape, strides or the like that the function passed itself (Fault.Argument). A panic becomes a RuntimeError
// that carries the Go stack in its notes.
//
// # How a call runs
//
// All arguments are decoded in C into one frame on the stack, Go is entered once, and the results are read from the same
// frame. The GIL is released meanwhile, unless the function is marked Quick. Several functions given to one Def are tried
// by the dtypes of the arguments.
//
// Everything that runs per tensor, the Tensor type and its import and export, is C, in the files beside this one: it
// works in forked children and after the interpreter's end, where Go does not.
package pyglue
