package backend_test

import (
	"errors"
	"fmt"

	"github.com/dlpackgo/dlpackgo/kernels/backend"
)

func ExampleUse() {
	err := backend.Use(backend.OpenBLAS, "/nowhere/libopenblas.so")
	if unavailable := (*backend.UnavailableError)(nil); errors.As(err, &unavailable) {
		fmt.Println("staying with", unavailable.InUse)
	}
	// Output: staying with gonum (Go)
}
