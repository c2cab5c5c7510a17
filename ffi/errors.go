package ffi

import (
	"errors"
	"strconv"
	"strings"
)

// ErrInvalid is what every error of the validator is, in the sense of errors.Is.
var ErrInvalid = errors.New("ffi: the tensor descriptor is invalid")

// One sentinel per rule, for errors.Is. The error itself has a type per rule, for errors.As, and carries the facts.
var (
	ErrDescriptor   = errors.New("ffi: a missing descriptor")
	ErrVersion      = errors.New("ffi: another major version")
	ErrFlags        = errors.New("ffi: unknown flags")
	ErrDeviceType   = errors.New("ffi: an unknown device type")
	ErrDeviceID     = errors.New("ffi: a negative device number")
	ErrNDim         = errors.New("ffi: a rank below 0 or above MaxNDim")
	ErrShape        = errors.New("ffi: a missing shape")
	ErrDTypeCode    = errors.New("ffi: an unknown dtype code")
	ErrDTypeBits    = errors.New("ffi: bits that the dtype code does not accept")
	ErrDTypeLanes   = errors.New("ffi: a dtype without lanes")
	ErrExtent       = errors.New("ffi: a negative extent")
	ErrSize         = errors.New("ffi: more elements or bytes than an int64 counts")
	ErrSpan         = errors.New("ffi: strides that reach across more bytes than an int64 counts")
	ErrPackedLayout = errors.New("ffi: strides of packed elements that leave no whole byte to address")
	ErrData         = errors.New("ffi: missing data")
	ErrAddress      = errors.New("ffi: elements outside the address space")
	ErrAlignment    = errors.New("ffi: an address that does not suit the dtype")
)

// Fault is the facts of a broken rule. Every typed error embeds one.
//
// What Got and Beside mean is said at the type of the error. C code fills the first four facts into a dlpackgo_fault.
type Fault struct {
	Rule     Rule
	Axis     int   // the axis in question, -1 where the rule is not about one
	Got      int64 // what the descriptor holds
	Beside   int64 // what it is to be seen beside
	Argument bool  // the caller passed it as an argument: it is for the caller to mend, and not for a producer
}

// Error returns what was broken: the field and axis, what it holds, what is accepted, and what to do.
func (f Fault) Error() string {
	rule := f.Rule.facts()
	if f.Argument {
		return f.fill(rule.found + rule.fixArgument)
	}
	return f.fill(rule.found + rule.fix)
}

// OfArgument returns err, if it is one of the validator, as one about what the caller passed: the same in the sense of
// errors.Is and errors.As, in words that do not blame a producer. It is for functions whose arguments become a descriptor,
// which is then validated. What err was wrapped in stays around it. Other errors it returns as they are.
func OfArgument(err error) error {
	fault, ok := FaultOf(err)
	if !ok || fault.Argument {
		return err
	}
	mended := fault.ofArgument()
	if _, bare := err.(interface{ facts() Fault }); bare {
		return mended
	}
	return &wrappedArgument{fault: fault, mended: mended, wrapped: err}
}

// wrappedArgument is an error around a fault that was given other words.
type wrappedArgument struct {
	fault           Fault
	mended, wrapped error
}

// Error returns the message, with the new words in place of the old ones.
func (e *wrappedArgument) Error() string {
	return strings.Replace(e.wrapped.Error(), e.fault.Error(), e.mended.Error(), 1)
}

// Unwrap returns the fault as one about an argument, which errors.As finds first, and what it was wrapped in.
func (e *wrappedArgument) Unwrap() []error { return []error{e.mended, e.wrapped} }

func (f Fault) ofArgument() error {
	f.Argument = true
	return f.Err()
}

// Want returns what would have been accepted.
func (f Fault) Want() string { return f.fill(f.Rule.facts().want) }

// Is reports whether target is ErrInvalid or the sentinel of the broken rule.
func (f Fault) Is(target error) bool {
	return target == ErrInvalid || target == f.Rule.facts().sentinel
}

// facts returns f, so that FaultOf can read any typed error.
func (f Fault) facts() Fault { return f }

// FaultOf returns the facts of the broken rule that err reports, and false when err is no error of the validator.
func FaultOf(err error) (Fault, bool) {
	var broken interface{ facts() Fault }
	if errors.As(err, &broken) {
		return broken.facts(), true
	}
	return Fault{}, false
}

// Err returns f as the typed error of its rule, nil for RuleNone and for what is no rule.
func (f Fault) Err() error {
	switch f.Rule {
	case RuleDescriptor:
		return &DescriptorError{f}
	case RuleVersion:
		return &VersionError{f}
	case RuleFlags:
		return &FlagsError{f}
	case RuleDeviceType:
		return &DeviceTypeError{f}
	case RuleDeviceID:
		return &DeviceIDError{f}
	case RuleNDim:
		return &NDimError{f}
	case RuleShape:
		return &ShapeError{f}
	case RuleDTypeCode:
		return &DTypeCodeError{f}
	case RuleDTypeBits:
		return &DTypeBitsError{f}
	case RuleDTypeLanes:
		return &DTypeLanesError{f}
	case RuleExtent:
		return &ExtentError{f}
	case RuleSize:
		return &SizeError{f}
	case RuleSpan:
		return &SpanError{f}
	case RulePackedLayout:
		return &PackedLayoutError{f}
	case RuleData:
		return &DataError{f}
	case RuleAddress:
		return &AddressError{f}
	case RuleAlignment:
		return &AlignmentError{f}
	}
	return nil
}

// fill puts the facts into the placeholders of text.
func (f Fault) fill(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	codeName, widths := "", ""
	if f.Got >= 0 && f.Got < codeCount {
		codeName, widths = codes[f.Got].name, widthsText(DLDataTypeCode(f.Got))
	}
	return strings.NewReplacer(
		"{axis}", strconv.Itoa(f.Axis),
		"{got}", strconv.FormatInt(f.Got, 10),
		"{beside}", strconv.FormatInt(f.Beside, 10),
		"{beside:unsigned}", strconv.FormatUint(uint64(f.Beside), 10),
		"{got:hex}", "0x"+strconv.FormatUint(uint64(f.Got), 16),
		"{got:code}", codeName,
		"{got:widths}", widths,
	).Replace(text)
}

// widthsText lists the bits that c accepts, as in "16, 32 or 64".
func widthsText(c DLDataTypeCode) string {
	var words []string
	for _, width := range c.Widths() {
		words = append(words, strconv.Itoa(width))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// DescriptorError reports a missing descriptor. No fact goes with it.
type DescriptorError struct{ Fault }

// VersionError reports another major version. Got is the major and Beside the minor version.
type VersionError struct{ Fault }

// FlagsError reports unknown flags. Got holds the unknown bits and Beside the minor version.
type FlagsError struct{ Fault }

// DeviceTypeError reports an unknown device type. Got is the type.
type DeviceTypeError struct{ Fault }

// DeviceIDError reports a negative device number. Got is the number.
type DeviceIDError struct{ Fault }

// NDimError reports a rank below 0 or above MaxNDim. Got is the rank.
type NDimError struct{ Fault }

// ShapeError reports a missing shape. Got is the rank.
type ShapeError struct{ Fault }

// DTypeCodeError reports an unknown dtype code. Got is the code and Beside the bits.
type DTypeCodeError struct{ Fault }

// DTypeBitsError reports bits that the dtype code does not accept. Got is the code and Beside the bits.
type DTypeBitsError struct{ Fault }

// DTypeLanesError reports a dtype without lanes. Got is 0.
type DTypeLanesError struct{ Fault }

// ExtentError reports a negative extent. Axis is the first such axis and Got its extent.
type ExtentError struct{ Fault }

// SizeError reports more elements or bytes than an int64 counts. Axis is the axis that passes the limit when extents
// are multiplied up from the first, and Got its extent.
type SizeError struct{ Fault }

// SpanError reports strides that reach across more bytes than an int64 counts. Axis is the axis that passes the limit
// when reaches are added up from the first, Got its stride and Beside its extent.
type SpanError struct{ Fault }

// PackedLayoutError reports strides of packed elements that leave no whole byte to address. Axis is the last axis
// whose stride differs from row-major, Got its stride and Beside the one needed.
type PackedLayoutError struct{ Fault }

// DataError reports missing data. Got is the number of elements.
type DataError struct{ Fault }

// AddressError reports elements outside the address space. Got is data and Beside the byte offset, both the bits of a
// uint64.
type AddressError struct{ Fault }

// AlignmentError reports an address that does not suit the dtype. Got is the address of the first element, the bits of
// a uint64, and Beside the alignment needed.
type AlignmentError struct{ Fault }
