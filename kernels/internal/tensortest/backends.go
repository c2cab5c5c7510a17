package tensortest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/kernels/backend"
)

// libraryVariable is the environment variable that names an OpenBLAS library to test with.
const libraryVariable = "DLPACKGO_OPENBLAS"

// RunOnEachBackend runs the tests with gonum and, when DLPACKGO_OPENBLAS names a library, once more with it. It returns
// the exit status, for TestMain.
func RunOnEachBackend(m *testing.M) int {
	status := m.Run()
	library := os.Getenv(libraryVariable)
	if library == "" || status != 0 {
		return status
	}
	if err := backend.Use(backend.OpenBLAS, library); err != nil {
		fmt.Println(err)
		return 1
	}
	return m.Run()
}

// WantNamedBackend fails the test when neither gonum nor the library that DLPACKGO_OPENBLAS names is in use. The go command
// sees variables that a test reads, but none that TestMain reads, and would take the results of a run without the
// library from its cache.
func WantNamedBackend(t *testing.T) {
	t.Helper()
	library, inUse := os.Getenv(libraryVariable), backend.Current().Description()
	if !strings.Contains(inUse, "gonum") && !strings.Contains(inUse, library) {
		t.Errorf("%s is in use, and %s is %q", inUse, libraryVariable, library)
	}
}
