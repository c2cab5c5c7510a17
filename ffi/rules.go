package ffi

//go:generate go run ./internal/rulestext ../safe

// Rule is one rule that a descriptor must keep to. The validator judges them in this order and reports the first broken
// one; RuleNone is no rule, the zero value of a Fault that is none.
type Rule int

// The rules. Strides of an axis of extent 0 or 1, and all strides of an empty tensor, are never judged.
const (
	RuleNone         Rule = iota
	RuleDescriptor        // there is a descriptor
	RuleVersion           // versioned structs: the major version is ours
	RuleFlags             // versioned structs up to our minor version: no unknown flag
	RuleDeviceType        // the device type is known
	RuleDeviceID          // the device number is 0 or more
	RuleNDim              // the rank is 0 to MaxNDim
	RuleShape             // a tensor of rank 1 or more has a shape
	RuleDTypeCode         // the dtype code is known
	RuleDTypeBits         // the code accepts the bits
	RuleDTypeLanes        // an element has at least one lane
	RuleExtent            // no extent is negative
	RuleSize              // elements and bytes fit an int64, also when extents of 0 are taken for 1
	RuleSpan              // so do the bytes that the strides reach across
	RulePackedLayout      // elements that do not fill whole bytes lie compact and row-major, or are padded
	RuleData              // a tensor with elements has data
	RuleAddress           // its bytes lie inside the address space, where data is an address
	RuleAlignment         // its elements are aligned, where the host may read them
	ruleCount
)

// ruleFacts is what the validator says of a broken rule.
type ruleFacts struct {
	name string
	// found is how the message begins: what there is, and what is accepted. Placeholders, all of them filled from a Fault,
	// are
	//   {axis}             the axis
	//   {got}, {beside}    the fact as a signed decimal number
	//   {beside:unsigned}  as an unsigned one
	//   {got:hex}          as a hexadecimal one
	//   {got:code}         as the name of a dtype code
	//   {got:widths}       as the bits which that dtype code accepts
	found string
	// fix is how it ends: what to do about a descriptor that somebody else wrote. fixArgument is that for a caller who
	// passed the fault as an argument.
	fix, fixArgument string
	// want is what would have been accepted, with the same placeholders.
	want     string
	sentinel error
}

// Fixes that several rules share. What is wrong with a descriptor can often be mended by nobody but its producer.
const (
	brokenDescriptor = "; the producer's descriptor is broken, report it there"
	pickDType        = "; pass one of the dtypes of package ffi, such as ffi.DTFloat32"
	correctShape     = "; correct the shape"
)

// rules holds the one text of each rule. The C validator's text is generated from it: run go generate after a change.
var rules = [ruleCount]ruleFacts{
	RuleNone: {"none", "the descriptor is sound", "", "", "", nil},
	RuleDescriptor: {"descriptor",
		"the descriptor is NULL; a pointer to one is needed",
		"; the producer handed over nothing, report it there", "; pass one",
		"a pointer that is not NULL", ErrDescriptor},
	RuleVersion: {"version",
		"version is {got}.{beside}; major version 1 is accepted",
		"; ask the producer for max_version=(1, 3), or use a newer dlpackgo", "; pass ffi.Version()",
		"major version 1", ErrVersion},
	RuleFlags: {"flags",
		"flags has {got:hex} set; 0x1 (read-only), 0x2 (copied) and 0x4 (sub-byte padded) are known",
		"; DLPack 1.{beside}, which the producer names, has no others: its descriptor is broken, report it there", "; leave the others out",
		"no bits but 0x1, 0x2 and 0x4", ErrFlags},
	RuleDeviceType: {"device type",
		"device type is {got}; DLPack 1.3 has 1 to 4 and 7 to 20",
		"; copy the array to one of these devices first", "; pass one of the constants of package ffi, such as ffi.CPU",
		"1 to 4 or 7 to 20", ErrDeviceType},
	RuleDeviceID: {"device id",
		"device id is {got}; a device number must be 0 or more", brokenDescriptor, "; correct the device",
		"0 or more", ErrDeviceID},
	RuleNDim: {"ndim",
		"ndim is {got}; 0 to 64 axes are accepted",
		"; reshape an array that has more, else the producer's descriptor is broken", "; pass a shape with fewer axes",
		"0 to 64", ErrNDim},
	RuleShape: {"shape",
		"shape is NULL with ndim {got}; only a tensor without axes may leave it out", brokenDescriptor, "; pass a shape",
		"a pointer to {got} extents", ErrShape},
	RuleDTypeCode: {"dtype code",
		"dtype code is {got} (with {beside} bits); codes 0 to 18 are known",
		"; convert the array to a common dtype first", pickDType,
		"0 to 18", ErrDTypeCode},
	RuleDTypeBits: {"dtype bits",
		"dtype bits is {beside} with code {got} ({got:code}), which takes {got:widths}",
		"; convert the array to a common dtype first", pickDType,
		"{got:widths}", ErrDTypeBits},
	RuleDTypeLanes: {"dtype lanes",
		"dtype lanes is 0; a scalar has 1", brokenDescriptor, pickDType,
		"1 or more", ErrDTypeLanes},
	RuleExtent: {"extent",
		"shape[{axis}] is {got}; an extent must be 0 or more", brokenDescriptor, correctShape,
		"0 or more", ErrExtent},
	RuleSize: {"size",
		"shape[{axis}] is {got}, which makes more than 2^63 - 1 elements or bytes; no memory is that large",
		brokenDescriptor, correctShape,
		"at most 2^63 - 1 elements and bytes", ErrSize},
	RuleSpan: {"span",
		"strides[{axis}] is {got} with extent {beside}, which spans more than 2^63 - 1 bytes; no memory is that large",
		brokenDescriptor, "; correct shape and strides, which count elements",
		"a span of at most 2^63 - 1 bytes", ErrSpan},
	RulePackedLayout: {"packed layout",
		"strides[{axis}] is {got}; elements that do not fill whole bytes must be row-major, which needs {beside}",
		"; copy the array to a contiguous one first", "; pass nil for row-major strides, or ffi.FlagSubbytePadded if each element fills a byte",
		"{beside}", ErrPackedLayout},
	RuleData: {"data",
		"data is NULL with {got} elements; only an empty tensor may leave it out",
		brokenDescriptor, "; pass the address of the first element",
		"an address", ErrData},
	RuleAddress: {"address",
		"data is {got:hex} with byte_offset {beside:unsigned}; elements lie outside the 64-bit address space",
		brokenDescriptor, "; correct data, shape and strides",
		"elements between 0 and 2^64 - 1", ErrAddress},
	RuleAlignment: {"alignment",
		"data + byte_offset is {got:hex}; this dtype needs a multiple of {beside}",
		"; copy the array first (numpy.array(x), torch.clone(x))", "; copy the elements to memory that is aligned, such as a slice that Go made",
		"a multiple of {beside}", ErrAlignment},
}

// Name returns the name of r, such as "span".
func (r Rule) Name() string { return r.facts().name }

// String returns the name of r.
func (r Rule) String() string { return r.Name() }

// Template returns the message of r with its placeholders. The C validator's messages are generated from it.
func (r Rule) Template() string { return r.facts().found + r.facts().fix }

// facts returns the row of r, that of RuleNone when r is no rule.
func (r Rule) facts() *ruleFacts {
	if uint(r) < uint(len(rules)) {
		return &rules[r]
	}
	return &rules[RuleNone]
}

// Rules returns all rules in the order in which they are judged.
func Rules() []Rule {
	all := make([]Rule, 0, ruleCount-1)
	for r := RuleDescriptor; r < ruleCount; r++ {
		all = append(all, r)
	}
	return all
}
