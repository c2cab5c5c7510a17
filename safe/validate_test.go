package safe

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/descriptor"
)

func FuzzValidatorInCAgreesWithGo(f *testing.F) {
	descriptor.Seeds(func(header, axes []byte) { f.Add(header, axes) })
	f.Fuzz(requireAgreement)
}

func requireAgreement(t *testing.T, header, axes []byte) {
	d := descriptor.Parse(header, axes)
	defer runtime.KeepAlive(d)
	m := d.Versioned()
	content := (*[unsafe.Sizeof(*m) / 8]uint64)(unsafe.Pointer(m)) // not as pointers: they may point into nowhere
	before, shape, strides := *content, slices.Clone(d.Shape), slices.Clone(d.Strides)
	err := ffi.ValidateVersioned(m)
	want, _ := ffi.FaultOf(err)
	got := validateVersionedInC(m)
	if got != want {
		t.Fatalf("%+v: C says %v %+v, Go says %v %+v", d, got.Rule, got, want.Rule, want)
	}
	if err != nil {
		requireSameText(t, want)
	} else {
		requireSameLayout(t, d)
	}
	if *content != before || !slices.Equal(d.Shape, shape) || !slices.Equal(d.Strides, strides) {
		t.Error("a validator wrote to the descriptor")
	}
}

func TestValidatorInCAgreesWithGoOnMutations(t *testing.T) {
	n, random := descriptor.Drive(t, 100_000)
	descriptor.Mutations(n, random, func(header, axes []byte) { requireAgreement(t, header, axes) })
}

func TestLayoutInCAgreesWithGoOnAnyLayout(t *testing.T) {
	dtypes := []ffi.DLDataType{ffi.DTFloat32, ffi.DTComplex128, ffi.DTBool, ffi.DTFloat4E2M1FN, ffi.DTFloat6E2M3FN, {Code: ffi.Int, Bits: 4, Lanes: 3}}
	n, random := descriptor.Drive(t, 20_000)
	descriptor.Layouts(n, random, func(l descriptor.Layout) {
		d := descriptor.New(l.Shape...)
		d.Strides, d.DType, d.Flags = l.Strides, dtypes[random.IntN(len(dtypes))], ffi.Flags(random.IntN(8))
		requireSameLayout(t, d)
	})
}

// requireSameText compares the messages, also when the buffer is too short for them.
func requireSameText(t *testing.T, fault ffi.Fault) {
	t.Helper()
	want := fault.Error()
	if got := faultMessageInC(fault, faultMessageSize); got != want {
		t.Errorf("C says %q, Go says %q", got, want)
	}
	for _, size := range []int{0, 1, 2, len(want) / 3, len(want) / 2, len(want), len(want) + 1} {
		if got, cut := faultMessageInC(fault, size), want[:min(max(size-1, 0), len(want))]; got != cut {
			t.Errorf("in %d bytes C says %q, want %q", size, got, cut)
		}
	}
}

// requireSameLayout compares the layout rules over a sound descriptor.
func requireSameLayout(t *testing.T, d *descriptor.Description) {
	t.Helper()
	shape, strides := d.Shape[:d.NDim], d.Strides
	got := measureInC(d.DType, d.Flags, shape, strides)
	numel := ffi.Numel(shape)
	want := layoutInC{
		numel:      numel,
		contiguous: ffi.IsContiguous(shape, strides),
		mayOverlap: ffi.MayOverlap(shape, strides),
		rowMajor:   ffi.RowMajorStrides(shape),
		itemSize:   ffi.ItemSize(d.DType),
		packedSize: ffi.PackedSize(d.DType, d.Flags, numel),
		alignment:  ffi.Alignment(d.DType),
	}
	if got.numel != want.numel || got.contiguous != want.contiguous ||
		got.mayOverlap != want.mayOverlap || !slices.Equal(got.rowMajor, want.rowMajor) ||
		got.itemSize != want.itemSize || got.packedSize != want.packedSize || got.alignment != want.alignment {
		t.Errorf("%+v: C says %+v, Go says %+v", d, got, want)
	}
}

func TestEveryFaultHasTheSameTextInBothLanguages(t *testing.T) {
	facts := []int64{0, 1, 18, 19, 255, -1, 1 << 62, -1 << 63}
	for rule := ffi.Rule(-1); rule < ffi.Rule(len(ffi.Rules())+3); rule++ {
		for _, got := range facts {
			for _, beside := range facts {
				fault := ffi.Fault{Rule: rule, Axis: 63, Got: got, Beside: beside}
				requireSameText(t, fault)
				if length := len(fault.Error()); length >= faultMessageSize {
					t.Errorf("the message takes %d bytes, more than DLPACKGO_FAULT_MESSAGE_SIZE: %s", length, fault.Error())
				}
			}
		}
	}
}

func TestDeviceFactsAreTheSameInBothLanguages(t *testing.T) {
	for _, device := range []ffi.DLDeviceType{-1 << 31, -1, 31, 32, 33, 64, 1<<31 - 1} {
		requireSameDevice(t, device)
	}
	for device := range ffi.DLDeviceType(31) {
		requireSameDevice(t, device)
	}
}

func requireSameDevice(t *testing.T, device ffi.DLDeviceType) {
	t.Helper()
	host, addressable := deviceInC(device)
	if host != device.HostAccessible() || addressable != device.Addressable() {
		t.Errorf("%v: C says host %v addressable %v, Go says %v and %v", device, host, addressable,
			device.HostAccessible(), device.Addressable())
	}
	for _, stream := range []int64{math.MinInt64, -2, -1, 0, 1, 2, 3, 1 << 47, math.MaxInt64} {
		accepted, words := streamInC(device, stream)
		err := ffi.CheckStream(ffi.DLDevice{DeviceType: device}, ffi.StreamOf(stream))
		if accepted != (err == nil) || words != device.Streams().Words {
			t.Errorf("%v, stream %d: C says %v %q, Go says %v", device, stream, accepted, words, err)
		}
	}
}

func TestMissingDescriptorIsAFaultInBothLanguages(t *testing.T) {
	want, _ := ffi.FaultOf(ffi.ValidateVersioned(nil))
	if got := validateVersionedInC(nil); got != want || want.Rule != ffi.RuleDescriptor {
		t.Errorf("C says %+v, Go says %+v", got, want)
	}
}
