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
	linker := quoted("-Wl,--version-script="+script) + " -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack"
	command := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		`-ldflags=-s -w "-extldflags=`+linker+`"`, "-o", library, source)
	command.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS="+p.flags())
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return errors.New("go build failed: its messages stand above")
	}
	return checkEntry(library)
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
