package ffi_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A released dlpack.h is the standard's own word. Older minor versions lack names that we have, so only what the header
// defines is asked for.
func TestReleasedHeaderAgrees(t *testing.T) {
	header := os.Getenv("DLPACKGO_DLPACK_H")
	if header == "" {
		t.Skip("set DLPACKGO_DLPACK_H to the path of a dlpack.h, such as the one in PyPI's apache-tvm-ffi, to compare with it")
	}
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler named cc is on PATH")
	}
	text, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	want := expectations(t, string(text))
	path, err := filepath.Abs(header)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`\b(kDL\w+)\s*=`).FindAllStringSubmatch(withoutComments(string(text)), -1) {
		if _, known := want[match[1]]; !known {
			t.Errorf("the header has %s, which this package does not know", match[1])
		}
	}
	got := probe(t, compiler, path, want)
	for expression, value := range want {
		if got[expression] != value {
			t.Errorf("%s is %d in the header, %d here", expression, got[expression], value)
		}
	}
	t.Logf("%d sizes, offsets and constants agree", len(want))
}

// expectations are C expressions over names that the header has, with the values that this package gives them.
func expectations(t *testing.T, header string) map[string]int64 {
	has := func(name string) bool {
		return regexp.MustCompile(`\b` + name + `\b`).MatchString(withoutComments(header))
	}
	want := map[string]int64{}
	for name, structure := range structs {
		if !has(name) {
			continue
		}
		want["sizeof("+name+")"] = int64(structure.Size())
		for field := range readABI(t).Struct[name].Offset {
			want["offsetof("+name+", "+field+")"] = int64(goField(t, structure, field).Offset)
		}
	}
	for name, value := range deviceTypes {
		if has(name) {
			want[name] = int64(value)
		}
	}
	for name, value := range dtypeCodes {
		if has(name) {
			want[name] = int64(value)
		}
	}
	for name, value := range readABI(t).Flag {
		if name = "DLPACK_FLAG_BITMASK_" + name; has(name) {
			want[name] = int64(value)
		}
	}
	return want
}

// withoutComments takes out what speaks of names without defining them.
func withoutComments(text string) string {
	return regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`).ReplaceAllString(text, "")
}

// probe compiles and runs a C program that prints the value of each expression.
func probe(t *testing.T, compiler, header string, expressions map[string]int64) map[string]int64 {
	t.Helper()
	var source strings.Builder
	fmt.Fprintf(&source, "#include <stddef.h>\n#include <stdio.h>\n#include %q\n\nint main(void)\n{\n", header)
	for expression := range expressions {
		fmt.Fprintf(&source, "    printf(\"%%lld\\t%s\\n\", (long long)(%s));\n", expression, expression)
	}
	source.WriteString("    return 0;\n}\n")
	folder := t.TempDir()
	file, program := filepath.Join(folder, "probe.c"), filepath.Join(folder, "probe")
	if err := os.WriteFile(file, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command(compiler, "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	output, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]int64{}
	for line := range bytes.Lines(output) {
		number, expression, _ := strings.Cut(strings.TrimSpace(string(line)), "\t")
		var value int64
		if _, err := fmt.Sscan(number, &value); err != nil {
			t.Fatal(err)
		}
		values[expression] = value
	}
	return values
}
