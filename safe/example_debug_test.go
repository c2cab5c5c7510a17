//go:build !asan

// AddressSanitizer ends the process where a library uses what it kept.

package safe_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func ExampleSetDebug() {
	safe.SetDebug(func(err error) { log.Print(err) }) // with the stack that lent it
	defer safe.SetDebug(nil)
	v, _ := safe.SliceMutView([]float32{1, 2, 3})
	_ = safe.LendMut(v, func(m *ffi.DLManagedTensor) error {
		ctest.Keep(m) // a library keeps what it was lent,
		return nil
	})
	ctest.DeleteKept()                                      // and gives it back long after the call
	fmt.Println(errors.Is(safe.CheckLoans(), safe.ErrKept)) // the next Lend reports it otherwise
	// Output: true
}
