// Package docnames holds what documentation comments say to what is there.
package docnames

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// source is a file of a package, with its comments.
type source struct {
	path string
	file *ast.File
}

// sources returns the Go files of the tree, by the name of their package.
func sources(t *testing.T) map[string][]source {
	found := make(map[string][]source)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && file.Name.Name != "main" {
			found[file.Name.Name] = append(found[file.Name.Name], source{path, file})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// declared returns the names of functions, types, constants and variables, and those of methods and fields.
func declared(files []source) map[string]bool {
	names := make(map[string]bool)
	for _, s := range files {
		for _, declaration := range s.file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					collect(spec, names)
				}
			}
		}
	}
	return names
}

func collect(spec ast.Spec, names map[string]bool) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		names[s.Name.Name] = true
		ast.Inspect(s.Type, func(node ast.Node) bool {
			if field, is := node.(*ast.Field); is {
				for _, name := range field.Names {
					names[name.Name] = true
				}
			}
			return true
		})
	case *ast.ValueSpec:
		for _, name := range s.Names {
			names[name.Name] = true
		}
	}
}

var (
	// qualified is a name in a package, or the method of one of its types, in text or in a snippet.
	qualified = regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	// link is what go doc makes a link of.
	link = regexp.MustCompile(`(?:^|\W)\[([A-Z]\w*)(?:\.([A-Z]\w*))?\]`)
)

func TestDocumentationCommentsNameWhatExists(t *testing.T) {
	packages := sources(t)
	names := make(map[string]map[string]bool)
	for name, files := range packages {
		names[name] = declared(files)
	}
	checked := 0
	check := func(path, named, in string, wanted ...string) {
		if names[in] == nil {
			return // of the standard library, or a variable
		}
		for _, name := range wanted {
			checked++
			if name != "" && !names[in][name] {
				t.Errorf("%s names %s, and there is no %s in package %s", path, named, name, in)
			}
		}
	}
	for own, files := range packages {
		for _, s := range files {
			for _, comment := range s.file.Comments {
				text := comment.Text()
				for _, found := range qualified.FindAllStringSubmatch(text, -1) {
					check(s.path, found[0], found[1], found[2], found[3])
				}
				for _, found := range link.FindAllStringSubmatch(text, -1) {
					check(s.path, found[0], own, found[1], found[2])
				}
			}
		}
	}
	if checked < 200 {
		t.Errorf("found %d names only", checked)
	}
}
