// Command wheel builds a Python wheel of a Go package whose functions package pyglue offers to Python. In the module of the
// package:
//
//	go run github.com/dlpackgo/dlpackgo/cmd/wheel .
//	pip install dist/*.whl
//
// What is installed is a Python package with the functions of pyglue.Module(NAME) in it, those of other modules as modules
// below it, and from_dlpack, Tensor and what else an extension module has. With CPython 3.12 or newer one wheel serves that
// and every later version; 3.11 and free-threaded Pythons get wheels of their own.
//
// Flags:
//
//	-name NAME        what to import and to install; the last element of the package's path unless told otherwise
//	-version VERSION  in the normalized form of PEP 440 (0.1.0)
//	-python COMMAND   the Python whose headers are taken (python3), and that loads the module once to see that it can; it
//	                  should have NumPy 2: without its headers calls with arrays of NumPy are several times slower, and
//	                  those of NumPy before 2.1 cannot be written to
//	-files FOLDER     your own Python files of the package, its __init__.py among them, beside which _core and
//	                  _refusals.py are put, without those that begin with a dot, and caches
//	-o FOLDER         where the wheel goes (dist), over one of the same name
//
// An __init__.py of your own brings the functions in, for example those of Module("mine"):
//
//	from . import _core
//	from ._core import Tensor, from_dlpack
//	add, scale = _core.mine.add, _core.mine.scale
//
// README.md and the licence of the Go package, or else of its module, go into the wheel, and the licences of Go and of all
// modules that are compiled in.
//
// The wheel is for the system that it was made on. Its tag says linux and no more: auditwheel makes it one that PyPI takes.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dlpackgo/dlpackgo/internal/licenses"
)

func main() {
	if err := run(os.Args[1:]); errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	flags := flag.NewFlagSet("wheel", flag.ContinueOnError)
	name := flags.String("name", "", "what to import and to install; the last element of the package's path by default")
	version := flags.String("version", "0.1.0", "the version, in the normalized form of PEP 440")
	interpreter := flags.String("python", "python3", "the `command` of the Python whose headers are taken; it should have NumPy 2")
	files := flags.String("files", "", "a `folder` with the Python files of the package")
	output := flags.String("o", "dist", "the `folder` where the wheel goes")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() > 1 {
		return fmt.Errorf("one package makes a wheel; got %d", flags.NArg())
	}
	source := "."
	if flags.NArg() == 1 {
		source = flags.Arg(0)
	}

	command, err := mainPackage(source)
	if err != nil {
		return err
	}
	p := project{name: *name, version: *version, source: command.ImportPath, folders: command.folders(), files: *files}
	if p.refusals, err = refusals(); err != nil {
		return err
	}
	if p.name == "" {
		p.name = nameOf(command.ImportPath)
	}
	if err := p.check(); err != nil {
		return err
	}
	python, err := ask(*interpreter)
	if err != nil {
		return err
	}
	if slices.Contains(python.Keywords, p.name) {
		return fmt.Errorf("%s is a keyword of Python, which cannot be imported: give another name with -name", p.name)
	}
	if python.NumPy == "" {
		fmt.Fprintf(os.Stderr, "wheel: %s has no NumPy 2: calls with arrays of NumPy will be slower, and those of NumPy before 2.1 "+
			"cannot be written to; -python names one that has it\n", *interpreter)
	}
	folder, err := os.MkdirTemp("", "wheel")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	library := filepath.Join(folder, python.libraryName())
	if err := build(source, library, python); err != nil {
		return err
	}
	if err := load(*interpreter, folder); err != nil {
		return err
	}
	others, without, err := licenses.Of(source)
	if err != nil {
		return err
	}
	for _, module := range without {
		fmt.Fprintf(os.Stderr, "wheel: %s has no licence, so that nothing says to whom you may give the wheel\n", module)
	}
	p.others = others
	made, err := pack(p, python, library, *output)
	if err != nil {
		return err
	}
	fmt.Println(made)
	return nil
}

// goPackage is what go list says of a package.
type goPackage struct {
	Name, ImportPath, Dir string
	Module                *struct{ Dir string }
}

// mainPackage returns the command that source names.
func mainPackage(source string) (goPackage, error) {
	list := exec.Command("go", "list", "-json=Name,ImportPath,Dir,Module", source)
	list.Stderr = os.Stderr
	answer, err := list.Output()
	if err != nil {
		return goPackage{}, fmt.Errorf("go list does not find one package %s: %w", source, err)
	}
	var found []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(answer)); decoder.More(); {
		var p goPackage
		if err := decoder.Decode(&p); err != nil {
			return goPackage{}, err
		}
		found = append(found, p)
	}
	if len(found) != 1 {
		return goPackage{}, fmt.Errorf("%s names %d packages; one makes a wheel", source, len(found))
	}
	if p := found[0]; p.Name != "main" {
		return goPackage{}, fmt.Errorf("%s is package %s; an extension module is a package main, with an empty func main", p.ImportPath, p.Name)
	}
	return found[0], nil
}

// folders returns those in which files about p lie: its own, and that of its module.
func (p goPackage) folders() []string {
	if p.Module == nil || p.Module.Dir == p.Dir {
		return []string{p.Dir}
	}
	return []string{p.Dir, p.Module.Dir}
}

// refusals returns dlpackgo's module of that name; nothing of a vendored dlpackgo, which comes without Python files.
func refusals() ([]byte, error) {
	list := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/dlpackgo/dlpackgo/pyglue")
	list.Stderr = os.Stderr
	folder, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list does not find dlpackgo: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "..", "python", "dlpackgo", refusalsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

const refusalsFile = "_refusals.py"

// project is what goes into the wheel, besides the extension module.
type project struct {
	name, version string
	source        string          // the import path of the Go package
	folders       []string        // in which its README and its licence are looked for
	files         string          // a folder, or nothing
	refusals      []byte          // the module that explains refusals, for which the extension module looks beside itself
	others        []licenses.File // the terms of what is compiled in
}

var (
	majorVersion = regexp.MustCompile(`^v[0-9]+$`)
	identifier   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	// Versions of PEP 440, in the form that it calls normalized.
	normalVersion = regexp.MustCompile(
		`^([0-9]+!)?[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?$`)
)

// nameOf returns the last element of an import path that is no major version, as a name of Python's.
func nameOf(importPath string) string {
	if last := path.Base(importPath); majorVersion.MatchString(last) {
		importPath = path.Dir(importPath)
	}
	return strings.ReplaceAll(path.Base(importPath), "-", "_")
}

// fileName returns the name as it stands in the names of files.
func (p project) fileName() string { return strings.ToLower(p.name) + "-" + p.version }

func (p project) check() error {
	if !identifier.MatchString(p.name) {
		return fmt.Errorf("%q is no name that Python can import: give one of letters, digits and _ with -name", p.name)
	}
	if !normalVersion.MatchString(p.version) {
		return fmt.Errorf("%q is no version in the normalized form of PEP 440, such as 0.1.0, 1.0rc1 or 1.0+local", p.version)
	}
	return nil
}
