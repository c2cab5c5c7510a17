package safe_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

// findings switches debugging on for a test, and returns what has been found so far.
func findings(t *testing.T) func() []error {
	var mutex sync.Mutex
	var found []error
	safe.SetDebug(func(err error) {
		mutex.Lock()
		defer mutex.Unlock()
		found = append(found, err)
	})
	t.Cleanup(func() { safe.SetDebug(nil) })
	return func() []error {
		mutex.Lock()
		defer mutex.Unlock()
		return found
	}
}

func forget() { must(safe.New[float32](2, 3)) }

func TestAForgottenTensorIsReportedWithWhereItWasMade(t *testing.T) {
	leftovers.WantNone(t)
	found := findings(t)
	must(safe.New[float32](2, 3)).Close() // is nobody's fault
	forget()
	leftovers.CollectUntil(t, func() bool { return len(found()) > 0 })
	var leak *safe.LeakError
	if err := found()[0]; !errors.As(err, &leak) || !errors.Is(err, safe.ErrLeaked) {
		t.Fatalf("found %v", err)
	}
	requireEqual(t, leak.Tensor, "float32 (2, 3) on cpu:0")
	if !strings.Contains(leak.Stack, "safe_test.forget") || !strings.Contains(leak.Error(), "debug_test.go") {
		t.Errorf("stack is %s", leak.Stack)
	}
	requireEqual(t, len(found()), 1)
}

func lendAndKeep(tensor *safe.Tensor) error {
	return safe.Lend(tensor, func(m *ffi.DLManagedTensor) error {
		ctest.Keep(m)
		return nil
	})
}

func TestACalleeThatKeepsALoanIsFound(t *testing.T) {
	for name, use := range map[string]func(){
		"deletes it later":   ctest.DeleteKept,
		"writes to it later": ctest.WriteToKept,
	} {
		t.Run(name, func(t *testing.T) {
			if ctest.AddressSanitizer {
				t.Skip("the address sanitizer ends the process here, which is its way to find it")
			}
			leftovers.WantNone(t)
			found := findings(t)
			tensor := must(safe.New[float32](2, 3))
			defer tensor.Close()
			requireEqual(t, lendAndKeep(tensor), nil)
			requireEqual(t, safe.CheckLoans(), nil)
			use()
			requireEqual(t, safe.Lend(tensor, func(*ffi.DLManagedTensor) error { return nil }), nil)
			if len(found()) != 1 {
				t.Fatalf("found %v", found())
			}
			var kept *safe.KeptError
			if err := found()[0]; !errors.As(err, &kept) || !errors.Is(err, safe.ErrKept) {
				t.Fatalf("found %v", err)
			}
			requireEqual(t, kept.Tensor, "float32 (2, 3) on cpu:0")
			if !strings.Contains(kept.Stack, "safe_test.lendAndKeep") {
				t.Errorf("stack is %s", kept.Stack)
			}
			requireEqual(t, safe.CheckLoans(), nil)
		})
	}
}

func TestWellBehavedCalleesAreNotReported(t *testing.T) {
	leftovers.WantNone(t)
	found := findings(t)
	tensor := must(safe.New[float32](2, 3))
	slice := must(safe.SliceMutView(count(6)))
	for range 2000 { // more than are watched at a time
		requireEqual(t, safe.Lend(tensor, func(m *ffi.DLManagedTensor) error {
			ctest.Sum(&m.DLTensor)
			ctest.Delete(m) // a callee that consumes, and is done before it returns
			return nil
		}), nil)
		requireEqual(t, safe.LendVersionedMut(slice, func(m *ffi.DLManagedTensorVersioned) error {
			ctest.Fill(&m.DLTensor, 1)
			return nil
		}), nil)
	}
	ctest.DeleteVersioned(must(safe.PackVersioned(tensor)))
	requireEqual(t, tensor.Close(), nil)
	requireEqual(t, errors.Join(append(found(), safe.CheckLoans())...), nil)
}

func TestALentTensorIsNotClosedWhileDebugging(t *testing.T) {
	leftovers.WantNone(t)
	findings(t)
	tensor := must(safe.New[float32](2, 3))
	requireError(t, safe.Lend(tensor, func(*ffi.DLManagedTensor) error { return tensor.Close() }), safe.ErrLent)
	requireEqual(t, tensor.Close(), nil)
}

func TestACalleeThatReadsAKeptLoanIsStoppedByTheAddressSanitizer(t *testing.T) {
	if !ctest.AddressSanitizer {
		t.Skip("this is what -asan is for")
	}
	if os.Getenv("DLPACKGO_READ_KEPT") != "" {
		findings(t)
		tensor := must(safe.New[float32](2, 3))
		requireEqual(t, lendAndKeep(tensor), nil)
		ctest.ReadKept()
		return
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	again.Env = append(os.Environ(), "DLPACKGO_READ_KEPT=1")
	if output, err := again.CombinedOutput(); err == nil || !strings.Contains(string(output), "use-after-poison") {
		t.Errorf("ended with %v:\n%s", err, output)
	}
}
