package licenses_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/licenses"
)

func TestTheModulesOfAPackageComeWithTheirLicences(t *testing.T) {
	files, without, err := licenses.Of("github.com/dlpackgo/dlpackgo/kernels/linalg")
	if err != nil || len(without) != 0 {
		t.Fatalf("got %v, and no licences of %q", err, without)
	}
	for name, holder := range map[string]string{
		"go/LICENSE":                      "The Go Authors",
		"github.com/x448/float16/LICENSE": "Montgomery Edwards",
		"gonum.org/v1/gonum/LICENSE":      "The Gonum Authors",
		"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Oxford-LICENSE": "University of Oxford",
	} {
		at := slices.IndexFunc(files, func(file licenses.File) bool { return file.Name == name })
		if at < 0 || !bytes.Contains(files[at].Data, []byte(holder)) {
			t.Errorf("%s is missing, or does not name %s", name, holder)
		}
	}
	for _, file := range files {
		if file.Name == "github.com/dlpackgo/dlpackgo/LICENSE" {
			t.Error("the module's own licence is among those of others")
		}
	}
}

func TestTheModulesInAVendorFolderComeWithTheirLicences(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                                 "module example.com/mine\n\ngo 1.25\n\nrequire example.com/other v1.0.0\n",
		"mine.go":                                "package mine\n\nimport _ \"example.com/other/deep\"\n",
		"vendor/modules.txt":                     "# example.com/other v1.0.0\n## explicit; go 1.25\nexample.com/other/deep\n",
		"vendor/example.com/other/LICENSE":       "of others",
		"vendor/example.com/other/deep/other.go": "package deep\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	t.Setenv("GOFLAGS", "")
	files, without, err := licenses.Of(".")
	if err != nil || len(without) != 0 || len(files) != 2 {
		t.Fatalf("got %d files, %v, and no licences of %q", len(files), err, without)
	}
	if got := files[1]; got.Name != "example.com/other/LICENSE" || string(got.Data) != "of others" {
		t.Errorf("%s holds %q", got.Name, got.Data)
	}
}

func TestFilesOfTermsAreKnownByTheirNames(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"LICENCE.txt", "COPYING", "NOTICE.md", "license.go", "readme"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "LICENSES"), 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := licenses.In(folder)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(files))
	for _, file := range files {
		if names = append(names, file.Name); string(file.Data) != file.Name {
			t.Errorf("%s holds %q", file.Name, file.Data)
		}
	}
	if want := []string{"COPYING", "LICENCE.txt", "NOTICE.md"}; !slices.Equal(names, want) {
		t.Errorf("found %v, want %v", names, want)
	}
}
