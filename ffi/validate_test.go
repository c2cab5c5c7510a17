package ffi_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/descriptor"
)

// breach is one way to break a rule.
type breach struct {
	rule     ffi.Rule
	damage   func(d *descriptor.Description)
	sentinel error
	typed    any    // nil pointer of the error type
	message  string // how the message begins
	want     string
}

// breaches are in the order in which the rules are judged. Each can be done to the same sound tensor, of shape (2, 3).
var breaches = []breach{
	{ffi.RuleVersion, func(d *descriptor.Description) { d.Major, d.Minor = 2, 0 },
		ffi.ErrVersion, (*ffi.VersionError)(nil), "version is 2.0; major version 1 is accepted; ", "major version 1"},
	{ffi.RuleFlags, func(d *descriptor.Description) { d.Flags |= 0x18 },
		ffi.ErrFlags, (*ffi.FlagsError)(nil), "flags has 0x18 set; ", "no bits but 0x1, 0x2 and 0x4"},
	{ffi.RuleDeviceType, func(d *descriptor.Description) { d.Device.DeviceType = 5 },
		ffi.ErrDeviceType, (*ffi.DeviceTypeError)(nil), "device type is 5; ", "1 to 4 or 7 to 20"},
	{ffi.RuleDeviceID, func(d *descriptor.Description) { d.Device.DeviceID = -1 },
		ffi.ErrDeviceID, (*ffi.DeviceIDError)(nil), "device id is -1; ", "0 or more"},
	{ffi.RuleNDim, func(d *descriptor.Description) { d.NDim = 65 },
		ffi.ErrNDim, (*ffi.NDimError)(nil), "ndim is 65; 0 to 64 axes are accepted; ", "0 to 64"},
	{ffi.RuleShape, func(d *descriptor.Description) { d.Shape = nil },
		ffi.ErrShape, (*ffi.ShapeError)(nil), "shape is NULL with ndim 2; ", "a pointer to 2 extents"},
	{ffi.RuleDTypeCode, func(d *descriptor.Description) { d.DType.Code = 99 },
		ffi.ErrDTypeCode, (*ffi.DTypeCodeError)(nil), "dtype code is 99 (with 32 bits); ", "0 to 18"},
	{ffi.RuleDTypeBits, func(d *descriptor.Description) { d.DType.Bits = 24 },
		ffi.ErrDTypeBits, (*ffi.DTypeBitsError)(nil), "dtype bits is 24 with code 2 (float), which takes 16, 32 or 64; ", "16, 32 or 64"},
	{ffi.RuleDTypeLanes, func(d *descriptor.Description) { d.DType.Lanes = 0 },
		ffi.ErrDTypeLanes, (*ffi.DTypeLanesError)(nil), "dtype lanes is 0; ", "1 or more"},
	{ffi.RuleExtent, func(d *descriptor.Description) { set(d.Shape, 1, -3) },
		ffi.ErrExtent, (*ffi.ExtentError)(nil), "shape[1] is -3; an extent must be 0 or more; ", "0 or more"},
	{ffi.RuleSize, func(d *descriptor.Description) { set(d.Shape, 0, 1<<62) },
		ffi.ErrSize, (*ffi.SizeError)(nil), "shape[0] is 4611686018427387904, which makes more than 2^63 - 1 elements or bytes; ",
		"at most 2^63 - 1 elements and bytes"},
	{ffi.RuleSpan, func(d *descriptor.Description) { set(d.Strides, 0, math.MinInt64) },
		ffi.ErrSpan, (*ffi.SpanError)(nil), "strides[0] is -9223372036854775808 with extent 2, which spans more than 2^63 - 1 bytes; ",
		"a span of at most 2^63 - 1 bytes"},
	{ffi.RulePackedLayout, func(d *descriptor.Description) { d.DType = ffi.DTFloat4E2M1FN; set(d.Strides, 1, 2) },
		ffi.ErrPackedLayout, (*ffi.PackedLayoutError)(nil), "strides[1] is 2; elements that do not fill whole bytes must be row-major, which needs 1; ", "1"},
	{ffi.RuleData, func(d *descriptor.Description) { d.Data = 0 },
		ffi.ErrData, (*ffi.DataError)(nil), "data is NULL with 6 elements; ", "an address"},
	{ffi.RuleAddress, func(d *descriptor.Description) { d.ByteOffset = math.MaxUint64 - 7 },
		ffi.ErrAddress, (*ffi.AddressError)(nil), "data is 0x500000000000 with byte_offset 18446744073709551608; ", "elements between 0 and 2^64 - 1"},
	{ffi.RuleAlignment, func(d *descriptor.Description) { d.ByteOffset += 2 },
		ffi.ErrAlignment, (*ffi.AlignmentError)(nil), "data + byte_offset is 0x500000000002; this dtype needs a multiple of 4; ", "a multiple of 4"},
}

func set(values []int64, axis int, value int64) {
	if values != nil {
		values[axis] = value
	}
}

// sound returns the tensor that breaches are done to.
func sound() *descriptor.Description {
	d := descriptor.New(2, 3)
	d.Strides = []int64{3, 1}
	return d
}

func validate(d *descriptor.Description) error {
	defer runtime.KeepAlive(d)
	return ffi.ValidateVersioned(d.Versioned())
}

func TestEachBrokenRuleHasAnErrorThatSaysWhat(t *testing.T) {
	if err := validate(sound()); err != nil {
		t.Fatal(err)
	}
	for _, b := range breaches {
		t.Run(b.rule.Name(), func(t *testing.T) {
			d := sound()
			b.damage(d)
			err := validate(d)
			if !errors.Is(err, ffi.ErrInvalid) || !errors.Is(err, b.sentinel) {
				t.Fatalf("%v is not its sentinel", err)
			}
			target := reflect.New(reflect.TypeOf(b.typed))
			if !errors.As(err, target.Interface()) {
				t.Errorf("%T is not a %T", err, b.typed)
			}
			fault, _ := ffi.FaultOf(err)
			if fault.Rule != b.rule || !strings.HasPrefix(err.Error(), b.message) || fault.Want() != b.want {
				t.Errorf("rule %v, message %q, want %q", fault.Rule, err, fault.Want())
			}
			if strings.ContainsAny(err.Error(), "{}") || strings.ContainsAny(fault.Want(), "{}") {
				t.Errorf("a placeholder is left in %q or %q", err, fault.Want())
			}
			for _, other := range breaches {
				if other.rule != b.rule && errors.Is(err, other.sentinel) {
					t.Errorf("%v is also %v", err, other.sentinel)
				}
			}
		})
	}
}

func TestFaultsInArgumentsBlameNoProducer(t *testing.T) {
	for _, b := range breaches {
		d := sound()
		b.damage(d)
		foreign := validate(d)
		err := ffi.OfArgument(foreign)
		fault, ok := ffi.FaultOf(err)
		if !ok || !fault.Argument || !errors.Is(err, b.sentinel) || reflect.TypeOf(err) != reflect.TypeOf(b.typed) {
			t.Errorf("%v became %v, a %T", foreign, err, err)
		}
		message, after, _ := strings.Cut(err.Error(), b.message)
		if message != "" || after == "" || strings.ContainsAny(after, "{}") || strings.Contains(after, "producer") || strings.Contains(after, "copy the array") {
			t.Errorf("the message is %q", err)
		}
	}
	if other := errors.New("other"); ffi.OfArgument(other) != other || ffi.OfArgument(nil) != nil {
		t.Error("an error of somebody else's was changed")
	}
}

func TestFaultsInArgumentsKeepWhatTheyWereWrappedIn(t *testing.T) {
	mine := errors.New("mine")
	for _, b := range breaches {
		d := sound()
		b.damage(d)
		foreign := validate(d)
		for _, wrapped := range []error{
			fmt.Errorf("tensor 3: %w and %w", foreign, mine),
			fmt.Errorf("tensor 3: %w", errors.Join(foreign, mine)),
			errors.Join(errors.New("tensor 3"), mine, foreign),
		} {
			err := ffi.OfArgument(wrapped)
			if !errors.Is(err, mine) || !errors.Is(err, wrapped) || !errors.Is(err, b.sentinel) || !errors.Is(err, ffi.ErrInvalid) {
				t.Errorf("%v became %v", wrapped, err)
			}
			target := reflect.New(reflect.TypeOf(b.typed))
			if !errors.As(err, target.Interface()) || !reflect.DeepEqual(target.Elem().Interface(), ffi.OfArgument(foreign)) {
				t.Errorf("in %v is the error %v", err, target.Elem())
			}
			want := strings.Replace(wrapped.Error(), foreign.Error(), ffi.OfArgument(foreign).Error(), 1)
			if err.Error() != want {
				t.Errorf("the message is %q, want %q", err, want)
			}
			if ffi.OfArgument(err) != err {
				t.Errorf("%v was changed twice", err)
			}
		}
	}
}

// Pairs of breaches that undo each other, or of which the first takes the ground from under the second.
func TestOfTwoBrokenRulesTheFirstIsReported(t *testing.T) {
	for i, first := range breaches {
		for _, second := range breaches[i+1:] {
			d := sound()
			second.damage(d)
			first.damage(d)
			// What is left may break a rule between the two, and the oracle knows which; never one before the first.
			want := oracle(d)
			fault, _ := ffi.FaultOf(validate(d))
			if fault != want || fault.Rule != first.rule {
				t.Errorf("%v and %v: reported %v", first.rule, second.rule, fault.Rule)
			}
		}
	}
}

func TestEveryRuleHasTextsAndASentinelOfItsOwn(t *testing.T) {
	broken := map[ffi.Rule]bool{ffi.RuleDescriptor: true}
	for _, b := range breaches {
		broken[b.rule] = true
	}
	names := map[string]bool{}
	for _, rule := range ffi.Rules() {
		if !broken[rule] || names[rule.Name()] || rule.Template() == "" {
			t.Errorf("rule %d (%v) is not tested, or shares its name", rule, rule)
		}
		names[rule.Name()] = true
		if err := (ffi.Fault{Rule: rule}).Err(); err == nil || !strings.HasSuffix(reflect.TypeOf(err).Elem().Name(), "Error") {
			t.Errorf("rule %v has no error type", rule)
		}
	}
	if err := (ffi.Fault{}).Err(); err != nil {
		t.Errorf("no fault is %v", err)
	}
}

func TestMissingDescriptorIsRefused(t *testing.T) {
	for name, err := range map[string]error{
		"tensor": ffi.Validate(nil), "legacy": ffi.ValidateManaged(nil), "versioned": ffi.ValidateVersioned(nil),
	} {
		if !errors.Is(err, ffi.ErrDescriptor) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLegacyTensorIsJudgedWithoutVersionAndFlags(t *testing.T) {
	d := sound()
	defer runtime.KeepAlive(d)
	m := &ffi.DLManagedTensor{DLTensor: *d.Tensor()}
	if err := ffi.ValidateManaged(m); err != nil {
		t.Error(err)
	}
	m.DLTensor.Device.DeviceType = 0
	if err := ffi.ValidateManaged(m); !errors.Is(err, ffi.ErrDeviceType) {
		t.Error(err)
	}
}

func TestValidatorAccepts(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(d *descriptor.Description)
	}{
		{"flags of a newer minor version", func(d *descriptor.Description) { d.Minor, d.Flags = 4, 1<<40 }},
		{"NULL strides", func(d *descriptor.Description) { d.Strides = nil }},
		{"a scalar without shape", func(d *descriptor.Description) { d.NDim, d.Shape, d.Strides = 0, nil, nil }},
		{"64 axes", func(d *descriptor.Description) { *d = *descriptor.New(make([]int64, 64)...) }},
		{"any stride of an axis of extent 1", func(d *descriptor.Description) {
			d.Shape, d.Strides = []int64{1, 3}, []int64{math.MinInt64, 1}
		}},
		{"any strides and no data in an empty tensor", func(d *descriptor.Description) {
			d.Shape, d.Strides, d.Data = []int64{0, 3}, []int64{math.MaxInt64, math.MinInt64}, 0
		}},
		{"any address of an empty tensor", func(d *descriptor.Description) {
			d.Shape, d.Data, d.ByteOffset = []int64{0, 3}, math.MaxUint64, math.MaxUint64
		}},
		{"negative strides", func(d *descriptor.Description) { d.Strides = []int64{-3, -1} }},
		{"strides of 0", func(d *descriptor.Description) { d.Strides = []int64{0, 0} }},
		{"the last bytes of the address space", func(d *descriptor.Description) { d.Data = math.MaxUint64 - 23 }},
		{"a transposed tensor of whole-byte vectors below a byte", func(d *descriptor.Description) {
			d.DType, d.Strides = ffi.DLDataType{Code: ffi.Float4E2M1FN, Bits: 4, Lanes: 2}, []int64{1, 2}
		}},
		{"a transposed padded tensor below a byte", func(d *descriptor.Description) {
			d.DType, d.Strides, d.Flags = ffi.DTFloat4E2M1FN, []int64{1, 2}, ffi.FlagSubbytePadded
		}},
		{"complex numbers aligned to their halves", func(d *descriptor.Description) {
			d.DType, d.ByteOffset = ffi.DTComplex128, 8
		}},
		{"vectors aligned to their scalars", func(d *descriptor.Description) {
			d.DType, d.ByteOffset = ffi.DLDataType{Code: ffi.Float, Bits: 32, Lanes: 4}, 4
		}},
		{"odd addresses on a GPU", func(d *descriptor.Description) { d.Device.DeviceType, d.ByteOffset = ffi.CUDA, 1 }},
		{"handles that are no addresses", func(d *descriptor.Description) {
			d.Device.DeviceType, d.Data, d.ByteOffset = ffi.Vulkan, math.MaxUint64, math.MaxUint64
		}},
	} {
		d := sound()
		test.change(d)
		if err := validate(d); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestAByteOffsetThatNoMemoryHasIsRefused(t *testing.T) {
	for _, offset := range []uint64{1 << 63, math.MaxUint64 - 39} {
		d := sound()
		d.Data, d.ByteOffset = 4096, offset
		var wrong *ffi.AddressError
		if err := validate(d); !errors.As(err, &wrong) || uint64(wrong.Beside) != offset {
			t.Errorf("byte offset %d: %v", offset, err)
		}
	}
}

func TestValidatorAllocatesNothingForSoundTensors(t *testing.T) {
	d := sound()
	defer runtime.KeepAlive(d)
	m := d.Versioned()
	if allocations := testing.AllocsPerRun(100, func() { _ = ffi.ValidateVersioned(m) }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func BenchmarkValidate(b *testing.B) {
	for _, layout := range []struct {
		name    string
		strides []int64
	}{{"compact", []int64{60, 20, 5, 1}}, {"null-strides", nil}, {"strided", []int64{1, 2, 6, -24}}} {
		b.Run(layout.name, func(b *testing.B) {
			d := descriptor.New(2, 3, 4, 5)
			d.Strides = layout.strides
			tensor := d.Tensor()
			for b.Loop() {
				if err := ffi.Validate(tensor); err != nil {
					b.Fatal(err)
				}
			}
			runtime.KeepAlive(d)
		})
	}
}
