package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// entry is the function by which Python finds the module.
const entry = "PyInit__core"

// exports tells the linker to keep everything else inside, out of the way of other Go libraries.
const exports = "{ global: " + entry + "; local: *; };\n"

// build builds the extension module of the package that source names.
func build(source, library string, p python) error {
	script := filepath.Join(filepath.Dir(library), "exports.map")
	if err := os.WriteFile(script, []byte(exports), 0o600); err != nil {
		return err
	}
	linker := quoted("-Wl,--version-script="+script) + " -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--build-id=none"
	command := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		`-ldflags=-s -w -buildid= "-extldflags=`+linker+`"`, "-o", library, source)
	command.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS="+p.flags())
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return errors.New("go build failed: its messages stand above")
	}
	return checkEntry(library)
}

// load has Python import the module that was built into folder: a declaration that cannot work ends the import.
func load(command, folder string) error {
	python := exec.Command(command, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import _core", folder)
	python.Stdout, python.Stderr = os.Stderr, os.Stderr
	if err := python.Run(); err != nil {
		return fmt.Errorf("%s cannot import the module: %w; its messages stand above", command, err)
	}
	return nil
}

// checkEntry returns nil when Python will find the module in library.
func checkEntry(library string) error {
	file, err := elf.Open(library)
	if err != nil {
		return err
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return err
	}
	for _, symbol := range symbols {
		if symbol.Name == entry && symbol.Section != elf.SHN_UNDEF {
			return nil
		}
	}
	return fmt.Errorf("the package has no C function %s, by which Python finds the module: docs/go.md of dlpackgo shows the "+
		"module.c that it takes", entry)
}
