package safe_test

import (
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func TestAdoptRunsTheDeleterOnce(t *testing.T) {
	for _, row := range []struct {
		name string
		use  func(*safe.Tensor) error
	}{
		{"close", func(own *safe.Tensor) error { return own.Close() }},
		{"close twice", func(own *safe.Tensor) error { own.Close(); return own.Close() }},
		{"export, close, delete", func(own *safe.Tensor) error {
			m := must(safe.PackVersioned(own))
			own.Close()
			ctest.DeleteVersioned(m)
			return nil
		}},
		{"export, delete, close", func(own *safe.Tensor) error {
			ctest.DeleteVersioned(must(safe.PackVersioned(own)))
			return own.Close()
		}},
		{"move", func(own *safe.Tensor) error { return must(safe.Receive(must(own.Move()))).Close() }},
		{"adopt an export", func(own *safe.Tensor) error {
			other := must(safe.AdoptVersioned(must(safe.PackVersioned(own))))
			own.Close()
			return other.Close()
		}},
		{"export from many goroutines", func(own *safe.Tensor) error {
			var wait sync.WaitGroup
			for range 8 {
				wait.Go(func() { ctest.DeleteVersioned(must(safe.PackVersioned(own))) })
			}
			wait.Wait()
			return own.Close()
		}},
		{"close from many goroutines", func(own *safe.Tensor) error {
			var wait sync.WaitGroup
			for range 8 {
				wait.Go(func() {
					for own.Close() != nil {
					}
				})
			}
			wait.Wait()
			return nil
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			leftovers.WantNone(t)
			requireDeleted(t, 2)
			for _, own := range []*safe.Tensor{
				must(safe.Adopt(ctest.Produce(2, 3))),
				must(safe.AdoptVersioned(ctest.ProduceVersioned(0, 2, 3))),
			} {
				if err := row.use(own); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestAdoptFillsInStridesAndFoldsTheByteOffset(t *testing.T) {
	leftovers.WantNone(t)
	requireDeleted(t, 1)
	m := ctest.Produce(2, 3)
	m.DLTensor.ByteOffset = 4
	*m.DLTensor.Shape = 1
	own := must(safe.Adopt(m))
	defer own.Close()
	if !slices.Equal(own.Strides(), []int64{3, 1}) {
		t.Errorf("strides are %v", own.Strides())
	}
	if got := elements(t, must(safe.ViewOf[float32](own))); !slices.Equal(got, []float32{1, 2, 3}) {
		t.Errorf("elements are %v", got)
	}
}

func TestAdoptKnowsWhatMayBeWritten(t *testing.T) {
	leftovers.WantNone(t)
	requireDeleted(t, 4)
	for _, row := range []struct {
		name     string
		adopt    func() (*safe.Tensor, error)
		readOnly bool
	}{
		{"legacy", func() (*safe.Tensor, error) { return safe.Adopt(ctest.Produce(2)) }, true},
		{"legacy, known to be writable", func() (*safe.Tensor, error) { return safe.AdoptMut(ctest.Produce(2)) }, false},
		{"versioned", func() (*safe.Tensor, error) { return safe.AdoptVersioned(ctest.ProduceVersioned(0, 2)) }, false},
		{"read-only", func() (*safe.Tensor, error) {
			return safe.AdoptVersioned(ctest.ProduceVersioned(ffi.FlagReadOnly, 2))
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			own := must(row.adopt())
			defer own.Close()
			requireEqual(t, own.ReadOnly(), row.readOnly)
			_, dataErr := safe.Data[float32](own)
			m, packErr := safe.Pack(own)
			lendErr := safe.LendMut(own, func(*ffi.DLManagedTensor) error { return nil })
			if row.readOnly {
				requireError(t, dataErr, safe.ErrReadOnly)
				requireError(t, packErr, safe.ErrReadOnly)
				requireError(t, lendErr, safe.ErrReadOnly)
			} else {
				requireEqual(t, dataErr, nil)
				requireEqual(t, lendErr, nil)
				ctest.Delete(m)
			}
			versioned := must(safe.PackVersioned(own))
			requireEqual(t, versioned.Flags&ffi.FlagReadOnly != 0, row.readOnly)
			ctest.DeleteVersioned(versioned)
		})
	}
}

func TestACopyIsNotACopyForTheNextConsumer(t *testing.T) {
	leftovers.WantNone(t)
	requireDeleted(t, 1)
	own := must(safe.AdoptVersioned(ctest.ProduceVersioned(ffi.FlagIsCopied, 2)))
	defer own.Close()
	requireEqual(t, own.Flags(), ffi.FlagIsCopied)
	m := must(safe.PackVersioned(own))
	requireEqual(t, m.Flags, 0)
	ctest.DeleteVersioned(m)
}

func TestWhatAdoptRefusesIsReleased(t *testing.T) {
	for _, row := range []struct {
		name  string
		spoil func(*ffi.DLTensor)
		want  error
	}{
		{"rank", func(d *ffi.DLTensor) { d.NDim = 65 }, ffi.ErrNDim},
		{"no shape", func(d *ffi.DLTensor) { d.Shape = nil }, ffi.ErrShape},
		{"negative extent", func(d *ffi.DLTensor) { *d.Shape = -1 }, ffi.ErrExtent},
		{"dtype", func(d *ffi.DLTensor) { d.DType.Code = 77 }, ffi.ErrDTypeCode},
		{"device", func(d *ffi.DLTensor) { d.Device.DeviceType = 5 }, ffi.ErrDeviceType},
		{"alignment", func(d *ffi.DLTensor) { d.ByteOffset = 1 }, ffi.ErrAlignment},
		{"no data", func(d *ffi.DLTensor) { d.Data = nil }, ffi.ErrData},
		{"data in the first page", func(d *ffi.DLTensor) { *(*uintptr)(unsafe.Pointer(&d.Data)) = 0x40 }, safe.ErrAddress},
	} {
		t.Run(row.name, func(t *testing.T) {
			leftovers.WantNone(t)
			before := ctest.Deleted()
			legacy, versioned := ctest.Produce(2, 3), ctest.ProduceVersioned(0, 2, 3)
			defer ctest.Disown(legacy, versioned)()
			row.spoil(&legacy.DLTensor)
			row.spoil(&versioned.DLTensor)
			_, err := safe.Adopt(legacy)
			requireError(t, err, row.want)
			_, err = safe.AdoptVersioned(versioned)
			requireError(t, err, row.want)
			requireEqual(t, ctest.Deleted()-before, 2)
		})
	}
}

func TestAnotherMajorVersionIsRefusedAndReleased(t *testing.T) {
	leftovers.WantNone(t)
	requireDeleted(t, 1)
	m := ctest.ProduceVersioned(0, 2)
	m.Version.Major = 2
	_, err := safe.AdoptVersioned(m)
	requireError(t, err, ffi.ErrVersion)
}

func TestAMissingTensorIsAnError(t *testing.T) {
	_, err := safe.Adopt(nil)
	requireError(t, err, ffi.ErrDescriptor)
	_, err = safe.AdoptVersioned(nil)
	requireError(t, err, ffi.ErrDescriptor)
}

func TestANullDeleterIsNothingToCall(t *testing.T) {
	leftovers.WantNone(t)
	requireDeleted(t, 2)
	legacy, versioned := ctest.Produce(2), ctest.ProduceVersioned(0, 2)
	deleter, deleterVersioned := legacy.Deleter, versioned.Deleter
	legacy.Deleter, versioned.Deleter = nil, nil
	requireEqual(t, must(safe.Adopt(legacy)).Close(), nil)
	requireEqual(t, must(safe.AdoptVersioned(versioned)).Close(), nil)
	legacy.Deleter, versioned.Deleter = deleter, deleterVersioned
	ctest.Delete(legacy)
	ctest.DeleteVersioned(versioned)
}
