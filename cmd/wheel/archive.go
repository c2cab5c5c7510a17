package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pack writes the wheel into the folder output, and returns its path.
func pack(p project, python python, library, output string) (made string, err error) {
	content, err := p.content(library)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(output, 0o777); err != nil {
		return "", err
	}
	made = filepath.Join(output, fmt.Sprintf("%s-%s.whl", p.fileName(), python.tag()))
	file, err := os.Create(made)
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			os.Remove(made)
		}
	}()
	return made, p.write(zip.NewWriter(file), content, python)
}

// member is a file of the wheel.
type member struct {
	name string
	mode fs.FileMode
	data []byte
}

// content returns the files of the package.
func (p project) content(library string) ([]member, error) {
	core, err := os.ReadFile(library)
	if err != nil {
		return nil, err
	}
	content := []member{{path.Join(p.name, filepath.Base(library)), 0o755, core}}
	if p.refusals != nil {
		content = append(content, member{path.Join(p.name, refusalsFile), 0o644, p.refusals})
	}
	if p.files == "" {
		return append(content, member{path.Join(p.name, "__init__.py"), 0o644, []byte(p.init())}), nil
	}
	root := os.DirFS(p.files)
	if _, err := fs.Stat(root, "__init__.py"); err != nil {
		return nil, fmt.Errorf("%s, of -files, is no Python package: %w", p.files, err)
	}
	if _, err := fs.Stat(root, "go.mod"); err == nil {
		return nil, fmt.Errorf("%s, of -files, is that of a Go module: give the Python files a folder of their own", p.files)
	}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case base == "__pycache__", name != "." && strings.HasPrefix(base, "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && !isLibrary(base):
			if info, err := fs.Stat(root, name); err != nil || !info.Mode().IsRegular() { // follows links
				return errors.Join(fmt.Errorf("%s in %s, of -files, is neither a file nor a folder", name, p.files), err)
			}
			if name == refusalsFile && p.refusals != nil {
				return fmt.Errorf("%s, of -files, has a %s, which is put beside _core: give it another name", p.files, name)
			}
			data, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			content = append(content, member{path.Join(p.name, name), 0o644, data})
		}
		return nil
	})
	return content, err
}

// isLibrary reports whether a file is an extension module that was built into the folder for trying it out.
func isLibrary(name string) bool {
	return strings.HasPrefix(name, "_core.") && strings.HasSuffix(name, ".so")
}

// init returns the __init__.py of a package without Python files of its own.
func (p project) init() string {
	return fmt.Sprintf(`"""The functions of the Go package %s."""

import sys

from . import _core
from ._core import *

for _name, _module in list(vars(_core).items()):
    if isinstance(_module, type(sys)):
        sys.modules[f"{__name__}.{_name}"] = _module
        if _name == %q:
            globals().update({name: value for name, value in vars(_module).items() if name[0] != "_"})
`, p.source, p.name)
}

// write writes the members of a wheel: content, and what installers want to know.
func (p project) write(archive *zip.Writer, content []member, python python) error {
	about := func(name, text string) member {
		return member{fmt.Sprintf("%s.dist-info/%s", p.fileName(), name), 0o644, []byte(text)}
	}
	terms, err := p.terms()
	if err != nil {
		return err
	}
	metadata, err := p.metadata(python, terms)
	if err != nil {
		return err
	}
	content = append(slices.Clone(content), about("METADATA", metadata),
		about("WHEEL", "Wheel-Version: 1.0\nGenerator: dlpackgo\nRoot-Is-Purelib: false\nTag: "+python.tag()+"\n"))
	for _, file := range terms {
		content = append(content, about("licenses/"+file.Name, string(file.Data)))
	}
	var record strings.Builder
	for _, m := range content {
		sum := sha256.Sum256(m.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", m.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(m.data))
	}
	list := about("RECORD", "")
	list.data = []byte(record.String() + list.name + ",,\n")
	for _, m := range append(content, list) {
		// All of one time, the first that there is in such archives: the same package makes the same wheel.
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(m.mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(m.data); err != nil {
			return err
		}
	}
	return archive.Close()
}
