package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/licenses"
)

func TestAPackageIsNamedByTheLastElementOfItsPath(t *testing.T) {
	for importPath, want := range map[string]string{
		"example.com/mine":              "mine",
		"example.com/my-ops":            "my_ops",
		"example.com/mine/v2":           "mine",
		"example.com/mine/cmd/ops":      "ops",
		"command-line-arguments":        "command_line_arguments",
		"github.com/somebody/go-tensor": "go_tensor",
	} {
		if got := nameOf(importPath); got != want {
			t.Errorf("%s is named %s, want %s", importPath, got, want)
		}
	}
}

func TestNamesAndVersionsThatInstallersWouldRefuseAreRefused(t *testing.T) {
	for _, c := range []struct{ name, version, complaint string }{
		{"mine", "0.1.0", ""},
		{"mine", "1!2.0rc1.post2.dev3", ""},
		{"mine", "1.0+local.1", ""},
		{"9lives", "0.1.0", `"9lives" is no name`},
		{"my-ops", "0.1.0", "-name"},
		{"../x", "0.1.0", "-name"},
		{"mine", "v0.1.0", "PEP 440"},
		{"mine", "0.1.0/../..", "PEP 440"},
		{"mine", "", "PEP 440"},
	} {
		err := project{name: c.name, version: c.version}.check()
		if c.complaint == "" && err != nil || c.complaint != "" && (err == nil || !strings.Contains(err.Error(), c.complaint)) {
			t.Errorf("%s %s: %v, want %q", c.name, c.version, err, c.complaint)
		}
	}
}

func TestAWheelIsTaggedForThePythonsThatItServes(t *testing.T) {
	for _, c := range []struct {
		minor              int
		freeThreaded       bool
		tag, requires, lib string
	}{
		{11, false, "cp311-cp311-linux_x86_64", "==3.11.*", "_core.so"},
		{12, false, "cp312-abi3-linux_x86_64", ">=3.12", "_core.abi3.so"},
		{14, false, "cp312-abi3-linux_x86_64", ">=3.12", "_core.abi3.so"},
		{13, true, "cp313-cp313t-linux_x86_64", "==3.13.*", "_core.so"},
	} {
		p := python{Version: [2]int{3, c.minor}, FreeThreaded: c.freeThreaded, Platform: "linux-x86_64"}
		if p.tag() != c.tag || p.requires() != c.requires || p.libraryName() != c.lib {
			t.Errorf("3.%d: %s, %s, %s", c.minor, p.tag(), p.requires(), p.libraryName())
		}
	}
}

// A wheel as pip wants it: each file is in the record with its digest and size, and the record without.
func TestAWheelHoldsThePackageAndARecordOfIt(t *testing.T) {
	folder := t.TempDir()
	library := filepath.Join(folder, "_core.abi3.so")
	files := filepath.Join(folder, "files")
	for name, text := range map[string]string{
		library:                               "machine code",
		files + "/__init__.py":                "from ._core import mine\n",
		files + "/deep/data.txt":              "data",
		files + "/_core.abi3.so":              "an older build",
		files + "/__pycache__/__init__.pyc":   "cache",
		files + "/.hidden/secret":             "secret",
		files + "/deep/.hidden":               "secret",
		files + "/deep/__pycache__/other.pyc": "cache",
	} {
		write(t, name, text)
	}
	p := python{Version: [2]int{3, 13}, Platform: "linux-x86_64"}
	if err := os.Symlink(library, files+"/deep/link.txt"); err != nil {
		t.Fatal(err)
	}
	mine := project{name: "Mine", version: "1.2", source: "example.com/mine", files: files, refusals: []byte("words")}
	made, err := pack(mine, p, library, filepath.Join(folder, "new", "dist"))
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.Base(made); got != "mine-1.2-cp312-abi3-linux_x86_64.whl" {
		t.Errorf("the wheel is called %s", got)
	}
	members := membersOf(t, made)
	want := []string{"mine-1.2.dist-info/METADATA", "mine-1.2.dist-info/RECORD", "mine-1.2.dist-info/WHEEL",
		"Mine/__init__.py", "Mine/_core.abi3.so", "Mine/_refusals.py", "Mine/deep/data.txt", "Mine/deep/link.txt"}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	if slices.Sort(want); !slices.Equal(names, want) {
		t.Errorf("the wheel holds %v, want %v", names, want)
	}
	if got := string(members["Mine/_core.abi3.so"]); got != "machine code" {
		t.Errorf("the extension module is %q", got)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(members["mine-1.2.dist-info/RECORD"])), "\n") {
		parts := strings.Split(line, ",")
		sum := sha256.Sum256(members[parts[0]])
		digest := "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
		size := fmt.Sprint(len(members[parts[0]]))
		if strings.HasSuffix(parts[0], "RECORD") {
			digest, size = "", ""
		}
		if parts[1] != digest || parts[2] != size {
			t.Errorf("the record has %s", line)
		}
	}

	again, err := pack(mine, p, library, filepath.Join(folder, "again"))
	if err != nil {
		t.Fatal(err)
	}
	if first, second := read(t, made), read(t, again); !bytes.Equal(first, second) {
		t.Error("the same package makes another wheel the second time")
	}
}

func TestAFolderOfFilesThatIsNoPackageIsRefusedAndLeavesNoWheel(t *testing.T) {
	for complaint, files := range map[string][]string{
		"is no Python package: stat __init__.py": {"other.py"},
		"is that of a Go module":                 {"__init__.py", "go.mod", "main.go"},
		"dangling in ":                           {"__init__.py", "dangling"},
		"has a _refusals.py":                     {"__init__.py", "_refusals.py"},
	} {
		folder := t.TempDir()
		library := filepath.Join(folder, "_core.so")
		output := filepath.Join(folder, "dist")
		for _, name := range append(files, "_core.so") {
			err := os.WriteFile(filepath.Join(folder, name), nil, 0o600)
			if name == "dangling" {
				err = errors.Join(os.Remove(filepath.Join(folder, name)), os.Symlink("nowhere", filepath.Join(folder, name)))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := pack(project{name: "mine", version: "1", files: folder, refusals: []byte("words")}, python{}, library, output)
		if err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("error is %v, want %q", err, complaint)
		}
		if left, _ := filepath.Glob(output + "/*"); len(left) != 0 {
			t.Errorf("%v is left behind", left)
		}
	}
}

func TestFlagsOfABuildByHandDoNotChooseTheABI(t *testing.T) {
	t.Setenv("CGO_CFLAGS", "-O1 -DPy_LIMITED_API=0x030b0000 -DPy_LIMITED_API -DMINE")
	flags := python{Version: [2]int{3, 11}, Include: "/some where"}.flags()
	if strings.Contains(flags, "Py_LIMITED_API") || !strings.Contains(flags, "-DMINE") || !strings.Contains(flags, "'-I/some where'") {
		t.Errorf("the flags are %s", flags)
	}
}

// The README and the licences of the package itself come before those of its module.
func TestAWheelHoldsTheDescriptionAndTheLicences(t *testing.T) {
	library := filepath.Join(t.TempDir(), "_core.so")
	write(t, library, "machine code")
	command, module := filepath.Join(t.TempDir(), "odd[name"), t.TempDir()
	p := project{name: "mine", version: "1", folders: []string{command, module}}
	p.others = []licenses.File{{Name: "example.com/other/LICENSE", Data: []byte("of others")}}
	wheel := func() map[string][]byte {
		made, err := pack(p, python{Version: [2]int{3, 11}}, library, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return membersOf(t, made)
	}
	want := func(metadata string, licenses map[string]string) {
		t.Helper()
		members := wheel()
		licenses["example.com/other/LICENSE"] = "of others"
		if got := string(members["mine-1.dist-info/METADATA"]); !strings.HasSuffix(got, metadata) {
			t.Errorf("METADATA is %q, want %q at its end", got, metadata)
		}
		if len(members) != 5+len(licenses) {
			t.Errorf("the wheel has %d files", len(members))
		}
		for name, text := range licenses {
			if got := string(members["mine-1.dist-info/licenses/"+name]); got != text {
				t.Errorf("%s is %q, want %q", name, got, text)
			}
		}
	}
	want("\nRequires-Python: ==3.11.*\nLicense-File: example.com/other/LICENSE\n", map[string]string{})
	write(t, filepath.Join(module, "README.rst"), "The module\n")
	write(t, filepath.Join(module, "COPYING"), "of the module")
	want("License-File: COPYING\nLicense-File: example.com/other/LICENSE\nDescription-Content-Type: text/x-rst; charset=UTF-8\n\nThe module\n", map[string]string{"COPYING": "of the module"})
	write(t, filepath.Join(command, "README.md"), "# Grüße\n")
	write(t, filepath.Join(command, "NOTICE"), "of whom")
	write(t, filepath.Join(command, "LICENSE-MIT"), "of MIT")
	want("License-File: LICENSE-MIT\nLicense-File: NOTICE\nLicense-File: example.com/other/LICENSE\nDescription-Content-Type: text/markdown; charset=UTF-8\n\n# Grüße\n",
		map[string]string{"NOTICE": "of whom", "LICENSE-MIT": "of MIT"})
	write(t, filepath.Join(command, "README.md"), "\xff")
	if _, err := pack(p, python{}, library, t.TempDir()); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("error is %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func membersOf(t *testing.T, wheel string) map[string][]byte {
	t.Helper()
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	members := map[string][]byte{}
	for _, file := range archive.File {
		entry, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if members[file.Name], err = io.ReadAll(entry); err != nil {
			t.Fatal(err)
		}
		entry.Close()
	}
	return members
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
