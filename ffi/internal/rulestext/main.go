// Command rulestext writes the C form of what package ffi knows of rules, dtypes and devices, so that the C validator
// and package ffi say the same. It takes the folder to write into; rules.go runs it by go generate.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dlpackgo/dlpackgo/ffi"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: rulestext FOLDER")
	}
	for name, text := range headers() {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// headers returns the generated files: rules.h is what judging needs, rules_text.h what messages need, streams.h which
// streams devices accept.
func headers() map[string]string {
	return map[string]string{"rules.h": rulesHeader(), "rules_text.h": textHeader(), "streams.h": streamHeader()}
}

func rulesHeader() string {
	var b strings.Builder
	open(&b, "RULES", "The rules of the validator, and what it knows of devices and dtypes.")
	b.WriteString("#include <stdint.h>\n\n")
	b.WriteString("/* In the order in which they are judged. 0: sound. */\nenum {\n")
	for _, rule := range ffi.Rules() {
		fmt.Fprintf(&b, "    %s = %d,\n", enumerator(rule), rule)
	}
	b.WriteString("    DLPACKGO_RULE_COUNT\n};\n\n")

	b.WriteString("/* Sets of device types: bit n stands for type n. */\n")
	deviceSet(&b, "KNOWN", ffi.DLDeviceType.Known)
	deviceSet(&b, "HOST", ffi.DLDeviceType.HostAccessible)
	deviceSet(&b, "ADDRESSABLE", ffi.DLDeviceType.Addressable)

	var widths []int // every width that some code accepts
	for width := range 256 {
		for _, code := range codes() {
			if accepts(code, width) {
				widths = append(widths, width)
				break
			}
		}
	}
	b.WriteString("\n/* Each width that some dtype code accepts has a bit of its own, so that a set of widths is one number. */\n")
	b.WriteString("static const uint16_t dlpackgo_width_bit[256] = {\n")
	for bit, width := range widths {
		fmt.Fprintf(&b, "    [%d] = %#x,\n", width, 1<<bit)
	}
	b.WriteString("};\n\n/* By dtype code: the widths it accepts, and the number of floats in a scalar. */\n")
	b.WriteString("static const struct {\n    uint16_t widths;\n    uint8_t parts;\n} dlpackgo_code[] = {\n")
	for _, code := range codes() {
		set := 0
		for bit, width := range widths {
			if accepts(code, width) {
				set |= 1 << bit
			}
		}
		fmt.Fprintf(&b, "    {%#x, %d}, /* %s */\n", set, code.Parts(), code)
	}
	fmt.Fprintf(&b, "};\n#define DLPACKGO_CODE_COUNT %d\n\n#endif\n", len(codes()))
	return b.String()
}

func textHeader() string {
	var b strings.Builder
	open(&b, "RULES_TEXT", "The messages of the validator; the placeholders are explained in package ffi.")
	b.WriteString("static const char *const dlpackgo_rule_text[] = {\n")
	fmt.Fprintf(&b, "    %s,\n", strconv.Quote(ffi.RuleNone.Template()))
	for _, rule := range ffi.Rules() {
		fmt.Fprintf(&b, "    %s,\n", strconv.Quote(rule.Template()))
	}
	b.WriteString("};\n\n/* By dtype code: its name, and the widths it accepts in words. */\n")
	b.WriteString("static const struct {\n    const char *name;\n    const char *widths;\n} dlpackgo_code_text[] = {\n")
	for _, code := range codes() {
		widths := ffi.Fault{Rule: ffi.RuleDTypeBits, Got: int64(code)}
		fmt.Fprintf(&b, "    {%s, %s},\n", strconv.Quote(code.String()), strconv.Quote(widths.Want()))
	}
	b.WriteString("};\n\n#endif\n")
	return b.String()
}

func streamHeader() string {
	var b strings.Builder
	open(&b, "STREAMS", "Which streams a device accepts beside None: the stream rules of package ffi.")
	b.WriteString("#include <stdbool.h>\n#include <stdint.h>\n\n")
	b.WriteString("/* What is not a device type counts as host memory. */\n")
	b.WriteString("static inline bool dlpackgo_stream_accepted(int32_t device_type, int64_t stream)\n{\n    switch (device_type) {\n")
	for _, group := range streamGroups() {
		group.labels(&b)
		fmt.Fprintf(&b, "        return %s;\n", streamTest(group.rule))
	}
	b.WriteString("    }\n    return false;\n}\n\n/* The same in words, and what to do. */\n")
	b.WriteString("static inline const char *dlpackgo_stream_words(int32_t device_type)\n{\n    switch (device_type) {\n")
	for _, group := range streamGroups() {
		group.labels(&b)
		fmt.Fprintf(&b, "        return %s;\n", strconv.Quote(group.rule.Words))
	}
	fmt.Fprintf(&b, "    }\n    return %s;\n}\n\n#endif\n", strconv.Quote(ffi.CPU.Streams().Words))
	return b.String()
}

// streamTest is the C expression for what rule accepts.
func streamTest(rule ffi.StreamRule) string {
	var terms []string
	for _, value := range rule.Values {
		terms = append(terms, fmt.Sprintf("stream == %d", value))
	}
	if rule.Above != math.MaxInt64 { // above which no stream lies, as a compiler would remark
		terms = append(terms, fmt.Sprintf("stream > %d", rule.Above))
	}
	if len(terms) == 0 {
		return "false"
	}
	return strings.Join(terms, " || ")
}

// streamGroup is the device types that share a rule for streams.
type streamGroup struct {
	rule  ffi.StreamRule
	types []ffi.DLDeviceType
}

// streamGroups returns the groups in the order of their first device types.
func streamGroups() []streamGroup {
	var groups []streamGroup
	for t := range ffi.DLDeviceType(32) {
		if !t.Known() {
			continue
		}
		rule := t.Streams()
		i := slices.IndexFunc(groups, func(g streamGroup) bool { return g.rule.Words == rule.Words })
		if i < 0 {
			i = len(groups)
			groups = append(groups, streamGroup{rule: rule})
		}
		groups[i].types = append(groups[i].types, t)
	}
	return groups
}

func (g streamGroup) labels(b *strings.Builder) {
	for _, t := range g.types {
		fmt.Fprintf(b, "    case %d: /* %s */\n", t, t)
	}
}

func open(b *strings.Builder, guard, purpose string) {
	fmt.Fprintf(b, "/* Code generated by ffi/internal/rulestext; DO NOT EDIT.\n *\n * %s */\n", purpose)
	fmt.Fprintf(b, "#ifndef DLPACKGO_%s_H\n#define DLPACKGO_%s_H\n\n", guard, guard)
}

// enumerator is the C name of a rule: "DLPACKGO_RULE_DTYPE_BITS".
func enumerator(rule ffi.Rule) string {
	return "DLPACKGO_RULE_" + strings.ToUpper(strings.ReplaceAll(rule.Name(), " ", "_"))
}

// deviceSet defines the set of the device types for which is is true.
func deviceSet(b *strings.Builder, name string, is func(ffi.DLDeviceType) bool) {
	set := uint32(0)
	for t := range ffi.DLDeviceType(32) {
		if is(t) {
			set |= 1 << t
		}
	}
	fmt.Fprintf(b, "#define DLPACKGO_%s_DEVICES UINT32_C(%#x)\n", name, set)
}

// codes returns all known dtype codes, in order.
func codes() []ffi.DLDataTypeCode {
	var known []ffi.DLDataTypeCode
	for code := ffi.DLDataTypeCode(0); code.Known(); code++ {
		known = append(known, code)
	}
	return known
}

func accepts(code ffi.DLDataTypeCode, width int) bool {
	return ffi.DLDataType{Code: code, Bits: uint8(width), Lanes: 1}.Valid()
}
