package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/dlpackgo/dlpackgo/internal/licenses"
)

// readmes are the files that describe a project, the first of them that there is, and how they are written.
var readmes = []struct{ name, kind string }{
	{"README.md", "text/markdown"},
	{"README.rst", "text/x-rst"},
	{"README.txt", "text/plain"},
	{"README", "text/plain"},
}

// metadata returns METADATA, with the description and the names of the files of terms.
func (p project) metadata(python python, terms []licenses.File) (string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "Metadata-Version: 2.4\nName: %s\nVersion: %s\nSummary: The Go package %s\nRequires-Python: %s\n",
		p.name, p.version, p.source, python.requires())
	for _, file := range terms {
		fmt.Fprintf(&text, "License-File: %s\n", file.Name)
	}
	kind, description, err := p.description()
	if kind != "" {
		fmt.Fprintf(&text, "Description-Content-Type: %s; charset=UTF-8\n\n%s", kind, description)
	}
	return text.String(), err
}

// terms returns the project's own files of terms, which are those of the Go package's folder or else of its module's, and those
// of others.
func (p project) terms() ([]licenses.File, error) {
	for _, folder := range p.folders {
		if own, err := licenses.In(folder); err != nil || own != nil {
			return append(own, p.others...), err
		}
	}
	return p.others, nil
}

// description returns the README of the Go package's folder, or else of its module's, and how it is written.
func (p project) description() (kind, text string, err error) {
	for _, folder := range p.folders {
		for _, readme := range readmes {
			name := filepath.Join(folder, readme.name)
			data, err := os.ReadFile(name)
			switch {
			case os.IsNotExist(err):
				continue
			case err != nil:
				return "", "", err
			case !utf8.Valid(data):
				return "", "", fmt.Errorf("%s is not written in UTF-8, as descriptions of Python packages are", name)
			}
			return readme.kind, string(data), nil
		}
	}
	return "", "", nil
}
