package safe

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// takeAgain returns the guards that the next so many users get.
func takeAgain(t *testing.T, count int) map[*guard]bool {
	taken := map[*guard]bool{}
	for range count {
		g, err := takeGuard()
		if err != nil {
			t.Fatal(err)
		}
		taken[g] = true
	}
	for g := range taken {
		g.pool()
	}
	return taken
}

func TestAGuardIsNotUsedAgainWhileAViewOfItIsLentOrExported(t *testing.T) {
	for name, begin := range map[string]func(*guard) bool{
		"lent":     func(g *guard) bool { return g.held.state.lendAtOnce(g.generation.Load()) },
		"exported": func(g *guard) bool { return g.held.state.beginExport(g.generation.Load()) },
	} {
		g, err := takeGuard()
		if err != nil {
			t.Fatal(err)
		}
		if !begin(g) {
			t.Fatalf("%s: refused", name)
		}
		putGuard(g)
		if takeAgain(t, 20)[g] {
			t.Errorf("%s: the guard was used again meanwhile", name)
		}
	}
}

func TestAScopeThatIsUsedOftenRevivesNoView(t *testing.T) {
	s, err := NewScope()
	if err != nil {
		t.Fatal(err)
	}
	element, shape := float32(1), int64(1)
	d := &ffi.DLTensor{Data: unsafe.Pointer(&element), NDim: 1, DType: ffi.DTFloat32, Shape: &shape, Strides: &shape}
	d.Device.DeviceType = ffi.CPU
	first := s.Borrow(d, 0)
	s.End()
	s.guard.held.state.Store(lastGeneration - oneGeneration) // as if it had ended many times
	s.guard.generation.Store(lastGeneration - oneGeneration)
	for range 3 {
		v := s.Borrow(d, 0)
		if v.Size() != 1 {
			t.Fatalf("borrowed %v", v)
		}
		s.End()
		for _, ended := range []AnyView{v, first} {
			if _, err := ended.AsDLTensor(); !errors.Is(err, ErrReleased) {
				t.Fatalf("got %v for a view that has ended", err)
			}
		}
	}
}
