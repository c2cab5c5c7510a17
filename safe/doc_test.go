package safe_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryNameOfTheTablesIsUsed holds the tables at the end of the manual to what tests and examples really use.
func TestEveryNameOfTheTablesIsUsed(t *testing.T) {
	manual := string(must(os.ReadFile("doc.go")))
	_, tables, _ := strings.Cut(manual, "# Coming from Rust")
	var uses strings.Builder
	for _, folder := range []string{".", "../ffi"} {
		for _, name := range must(filepath.Glob(folder + "/*_test.go")) {
			uses.Write(must(os.ReadFile(name)))
		}
	}
	rows := 0
	for line := range strings.Lines(tables) {
		theirs, ours, isRow := strings.Cut(strings.TrimPrefix(line, "\t"), "   ")
		if !strings.HasPrefix(line, "\t") || !isRow {
			continue
		}
		rows++
		for _, name := range regexp.MustCompile(`\b(ffi\.)?[A-Z]\w+`).FindAllString(ours, -1) {
			if !strings.Contains(uses.String(), strings.TrimSuffix(name, ".")) {
				t.Errorf("%s is said to stand for %s, and is used nowhere", name, theirs)
			}
		}
	}
	if rows < 20 {
		t.Errorf("found %d rows only", rows)
	}
}
