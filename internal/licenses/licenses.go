// Package licenses finds the terms under which what is compiled into a program may be passed on: most of them ask that they
// come with it.
package licenses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// File is a text of terms.
type File struct {
	Name string // "example.com/module/LICENSE", with slashes
	Data []byte
}

// patterns are what such files are called: those that Python's builders know, and where gonum keeps those of others.
var patterns = []string{"LICEN[CS]E*", "COPYING*", "NOTICE*", "AUTHORS*", "THIRD_PARTY_LICENSES/*"}

// In returns the files of terms in a folder, by name.
func In(folder string) ([]File, error) {
	root := os.DirFS(folder)
	var files []File
	for _, pattern := range patterns {
		names, _ := fs.Glob(root, pattern)
		for _, name := range names {
			if info, err := fs.Stat(root, name); err != nil || !info.Mode().IsRegular() {
				continue
			}
			data, err := fs.ReadFile(root, name)
			if err != nil {
				return nil, err
			}
			files = append(files, File{name, data})
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// module is what go list says of a module.
type module struct {
	Path, Dir string
	Main      bool
}

// Of returns the files of terms of Go itself and of every module that a package is compiled from, but for its own; and those
// which have none, so that nothing says that they may be passed on.
func Of(source string) (files []File, without []string, err error) {
	if files, err = ofGo(); err != nil {
		return nil, nil, err
	}
	if files == nil {
		without = append(without, "go")
	}
	modules, err := modulesOf(source)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range modules {
		terms, err := In(m.Dir)
		if err != nil {
			return nil, nil, err
		}
		if len(terms) == 0 {
			without = append(without, m.Path)
		}
		for _, file := range terms {
			files = append(files, File{path.Join(m.Path, file.Name), file.Data})
		}
	}
	return files, without, nil
}

// modulesOf returns the modules that a package is compiled from, other than its own, by path. Of one in a vendor folder go list
// does not say where it lies, but where its packages do.
func modulesOf(source string) ([]module, error) {
	answer, err := output("list", "-deps", "-json=Module,Dir,ImportPath", source)
	if err != nil {
		return nil, err
	}
	var modules []module
	for decoder := json.NewDecoder(bytes.NewReader(answer)); decoder.More(); {
		var p struct {
			Module          *module
			Dir, ImportPath string
		}
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main && !slices.ContainsFunc(modules, func(m module) bool { return m.Path == p.Module.Path }) {
			if p.Module.Dir == "" {
				p.Module.Dir = strings.TrimSuffix(p.Dir, filepath.FromSlash(strings.TrimPrefix(p.ImportPath, p.Module.Path)))
			}
			modules = append(modules, *p.Module)
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// ofGo returns the terms of Go's runtime and standard library. Some distributions leave them out at the top, and have them in
// the modules of the same authors that come with Go.
func ofGo() ([]File, error) {
	answer, err := output("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	root := os.DirFS(strings.TrimSpace(string(answer)))
	for _, pattern := range []string{"LICENSE", "src/vendor/golang.org/x/*/LICENSE", "src/cmd/vendor/golang.org/x/*/LICENSE"} {
		names, _ := fs.Glob(root, pattern)
		for _, name := range names {
			if data, err := fs.ReadFile(root, name); err == nil && bytes.Contains(data, []byte("The Go Authors")) {
				return []File{{"go/LICENSE", data}}, nil
			}
		}
	}
	return nil, nil
}

func output(arguments ...string) ([]byte, error) {
	command := exec.Command("go", arguments...)
	command.Stderr = os.Stderr
	answer, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return answer, nil
}

// Write writes files into a folder, in folders of their own.
func Write(files []File, folder string) error {
	for _, file := range files {
		name := filepath.Join(folder, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, file.Data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
