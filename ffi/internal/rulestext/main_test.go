package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGeneratedHeadersAreCurrent(t *testing.T) {
	for name, want := range headers() {
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "safe", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("safe/%s is out of date: run go generate ./ffi", name)
		}
	}
}
