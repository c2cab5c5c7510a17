package backend

import (
	"fmt"
	"strings"
)

// UnknownError says that no backend has the name that was asked for.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("backend %q is unknown; the backends are %q and %q", e.Name, Gonum, OpenBLAS)
}

// UnavailableError says that no usable OpenBLAS library was found.
type UnavailableError struct {
	InUse   string   // the backend that stays in use
	Reasons []string // why each library tried was refused, in the words of the dynamic loader
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("no OpenBLAS library could be opened (%s); %s stays in use; install one with "+
		"`pip install scipy-openblas64`, or give the path of a libopenblas",
		strings.Join(e.Reasons, "; "), e.InUse)
}

// ThreadsError says that a number of threads was refused.
type ThreadsError struct {
	Got    int
	Reason string
}

func (e *ThreadsError) Error() string { return fmt.Sprintf("threads is %d; %s", e.Got, e.Reason) }
