package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// python is the Python that a wheel is built for.
type python struct {
	Implementation string // cpython
	Version        [2]int
	Include        string // the folder of Python.h
	FreeThreaded   bool
	Platform       string // linux-x86_64
	NumPy          string // the folder of its headers, nothing when it has no NumPy 2
	Keywords       []string
}

// question makes Python tell what python has, as JSON.
const question = `
import sys
if sys.path[0] == "":
    del sys.path[0]  # what lies about here is not Python's
import json, keyword, sysconfig
try:
    import numpy
    headers = numpy.get_include() if int(numpy.__version__.split(".")[0]) >= 2 else ""
except ImportError:
    headers = ""
print(json.dumps({
    "Implementation": sys.implementation.name,
    "Version": sys.version_info[:2],
    "Include": sysconfig.get_path("include"),
    "FreeThreaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "Platform": sysconfig.get_platform(),
    "NumPy": headers,
    "Keywords": keyword.kwlist,
}))
`

// ask asks the Python of that command what a wheel for it has to be like, and whether one can be built.
func ask(command string) (python, error) {
	var p python
	if command == "" {
		return p, errors.New("the command of -python is empty; name a Python, or leave it out")
	}
	inquiry := exec.Command(command, "-c", question)
	inquiry.Stderr = os.Stderr
	answer, err := inquiry.Output()
	if err != nil {
		return p, fmt.Errorf("%s does not run: %w; name a Python with -python", command, err)
	}
	if err := json.Unmarshal(answer, &p); err != nil {
		return p, fmt.Errorf("%s answers %.40q: name a Python with -python", command, answer)
	}
	if p.Implementation != "cpython" || p.Version[0] != 3 || p.Version[1] < 11 {
		return p, fmt.Errorf("%s is %s %d.%d: CPython 3.11 or newer is supported", command, p.Implementation, p.Version[0], p.Version[1])
	}
	if _, err := os.Stat(filepath.Join(p.Include, "Python.h")); errors.Is(err, os.ErrNotExist) {
		return p, fmt.Errorf("%s has no headers in %s: install them (Debian: apt install python3-dev)", command, p.Include)
	}
	return p, nil
}

// abi3 reports whether what is built serves later versions, too.
func (p python) abi3() bool { return p.Version[1] >= 12 && !p.FreeThreaded }

// tag returns the part of the wheel's name that says what it is for.
func (p python) tag() string {
	platform := strings.NewReplacer("-", "_", ".", "_").Replace(p.Platform)
	if p.abi3() {
		return "cp312-abi3-" + platform
	}
	version := fmt.Sprintf("cp%d%d", p.Version[0], p.Version[1])
	if p.FreeThreaded {
		return fmt.Sprintf("%s-%st-%s", version, version, platform)
	}
	return fmt.Sprintf("%s-%s-%s", version, version, platform)
}

// requires returns the versions of Python that the wheel is for.
func (p python) requires() string {
	if p.abi3() {
		return ">=3.12"
	}
	return fmt.Sprintf("==%d.%d.*", p.Version[0], p.Version[1])
}

// libraryName returns the name of the extension module's file.
func (p python) libraryName() string {
	if p.abi3() {
		return "_core.abi3.so"
	}
	return "_core.so"
}

// flags returns the flags of the C compiler.
func (p python) flags() string {
	flags := []string{"-O3", quoted("-I" + p.Include)}
	if p.abi3() {
		flags = append(flags, "-DPy_LIMITED_API=0x030c0000")
	}
	if p.NumPy != "" {
		flags = append(flags, quoted("-I"+p.NumPy), "-DNPY_TARGET_VERSION=NPY_1_25_API_VERSION")
	}
	// Perhaps it is left from a build by hand, for another Python.
	more := limitedAPI.ReplaceAllString(os.Getenv("CGO_CFLAGS"), "")
	return strings.Join(append(flags, more), " ")
}

var limitedAPI = regexp.MustCompile(`-DPy_LIMITED_API(=[^ '"]*)?`)

// quoted returns a flag as the go command splits it off others, whatever is in it but both kinds of quotes.
func quoted(flag string) string {
	if strings.Contains(flag, "'") {
		return `"` + flag + `"`
	}
	return "'" + flag + "'"
}
