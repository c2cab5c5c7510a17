package safe_test

import (
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func BenchmarkCall(b *testing.B) {
	t := must(safe.New[float32](2, 3, 4, 5))
	defer t.Close()
	m := must(safe.Pack(t))
	defer ctest.Delete(m)
	b.Run("empty", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctest.Ignore(unsafe.Pointer(m))
		}
	})
	b.Run("lend", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = safe.Lend(t, func(m *ffi.DLManagedTensor) error {
				ctest.Ignore(unsafe.Pointer(m))
				return nil
			})
		}
	})
}

func BenchmarkOwn(b *testing.B) {
	b.Run("malloc+free", func(b *testing.B) {
		for b.Loop() {
			ctest.FreeAllocated(ctest.Allocate(160))
		}
	})
	t := must(safe.New[float32](2, 3, 4, 5))
	defer t.Close()
	b.Run("pack+delete", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctest.Delete(must(safe.Pack(t)))
		}
	})
	b.Run("adopt+close", func(b *testing.B) {
		b.ReportAllocs()
		m := ctest.Constant()
		for b.Loop() {
			must(safe.Adopt(m)).Close()
		}
	})
}
