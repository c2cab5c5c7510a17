package safe

import "sync/atomic"

// guard says whether the memory of a view is still there. A view holds the generation it was made in; whoever takes
// the memory away moves the guard on. Guards are used again, generations are not.
type guard struct {
	generation atomic.Uint64
}
