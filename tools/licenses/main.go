// Command licenses writes the terms of what a Go package is compiled from into a folder: licenses FOLDER PACKAGE. The wheel of
// dlpackgo is built with it.
package main

import (
	"fmt"
	"os"

	"github.com/dlpackgo/dlpackgo/internal/licenses"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 2 {
		return fmt.Errorf("a folder and a package are needed; got %q", arguments)
	}
	files, without, err := licenses.Of(arguments[1])
	if err != nil {
		return err
	}
	if len(without) != 0 {
		return fmt.Errorf("no licence was found of %q", without)
	}
	return licenses.Write(files, arguments[0])
}
