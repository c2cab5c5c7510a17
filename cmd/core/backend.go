package main

import (
	"errors"

	"github.com/dlpackgo/dlpackgo/kernels/backend"
	"github.com/dlpackgo/dlpackgo/pyglue"
)

func init() {
	m := pyglue.Module("linalg")

	m.Def("backend", pyglue.Args("name=None", "path=None"), pyglue.Func2(useBackend), pyglue.Doc(`
Choose what computes linear algebra, or tell what does.

Parameters
----------
name : str, optional
    "gonum", which is built in and in use from the start, or "openblas". Without a name nothing changes.
path : str, optional
    The OpenBLAS library to open, any build of it. Without a path the dynamic loader searches its usual places.

Returns
-------
str
    What is in use now, with its version.

Raises
------
ImportError
    If no OpenBLAS library could be opened. What was in use stays in use.
ValueError
    If there is no backend of that name.

Notes
-----
The choice holds for the whole process. Calls that run in other threads finish with the backend that they began with.
`))

	m.Def("threads", pyglue.Args("n=None"), pyglue.Func1(useThreads), pyglue.Doc(`
Set how many threads one operation of the current backend may use, or tell how many.

Parameters
----------
n : int, optional
    1 or more. Without it nothing changes.

Returns
-------
int

Raises
------
ValueError
    If n is below 1 or more than the library was built for, or the backend is gonum, which shares Go's threads with the rest of the process:
    see dlpackgo.runtime.max_procs.
`))
}

func useBackend(name, path pyglue.Optional[string]) (string, error) {
	if name.Given || path.Given {
		err := backend.Use(name.Or(backend.OpenBLAS), path.Value)
		if unavailable := (*backend.UnavailableError)(nil); errors.As(err, &unavailable) {
			return "", pyglue.Raise(pyglue.ImportError, err)
		}
		if err != nil {
			return "", err
		}
	}
	return backend.Current().Description(), nil
}

func useThreads(n pyglue.Optional[int]) (int, error) {
	if n.Given {
		if err := backend.Current().SetThreads(n.Value); err != nil {
			return 0, err
		}
	}
	return backend.Current().Threads(), nil
}
