package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

func init() {
	m := pyglue.Module("authors")
	m.Def("mistake", pyglue.Args("kind"), pyglue.Func1(mistake))
	m.Def("long_name", pyglue.Args(strings.Repeat("x", 300)), pyglue.Func1(identity))
	m.Def("says_nul", pyglue.Doc("before\x00after"), pyglue.Func0R0(func() error { return nil }))

	// Mistakes that show only when Python loads the module. The tests say which one is made.
	if name, wanted := os.LookupEnv("DLPACKGO_TEST_MODULE"); wanted {
		pyglue.Module(name).Def("f", pyglue.Func0(one))
	}
	if name, wanted := os.LookupEnv("DLPACKGO_TEST_FUNCTION"); wanted {
		m.Def(name, pyglue.Func0(one))
	}
}

func one() (int, error) { return 1, nil }

func identity(x int) (int, error) { return x, nil }

func sum(x, y int) (int, error) { return x + y, nil }

func optional(x int, y pyglue.Optional[int]) (int, error) { return x + y.Or(0), nil }

// mistakes are declarations that cannot work.
var mistakes = map[string]func(*pyglue.PyModule){
	"empty module":        func(*pyglue.PyModule) { pyglue.Module("") },
	"dotted module":       func(*pyglue.PyModule) { pyglue.Module("a.b") },
	"keyword module":      func(*pyglue.PyModule) { pyglue.Module("class") },
	"spaced module":       func(*pyglue.PyModule) { pyglue.Module("a b") },
	"Python's module":     func(*pyglue.PyModule) { pyglue.Module("__file__") },
	"nil module":          func(*pyglue.PyModule) { (*pyglue.PyModule)(nil).Def("f", pyglue.Func0(one)) },
	"twice":               func(m *pyglue.PyModule) { m.Def("mistake", pyglue.Func0(one)) },
	"twice elsewhere":     func(*pyglue.PyModule) { pyglue.Module("authors").Def("mistake", pyglue.Func0(one)) },
	"empty name":          func(m *pyglue.PyModule) { m.Def("", pyglue.Func0(one)) },
	"spaced name":         func(m *pyglue.PyModule) { m.Def("f g", pyglue.Func0(one)) },
	"NUL":                 func(m *pyglue.PyModule) { m.Def("f\x00g", pyglue.Func0(one)) },
	"not UTF-8":           func(m *pyglue.PyModule) { m.Def("f\xff", pyglue.Func0(one)) },
	"not ASCII":           func(m *pyglue.PyModule) { m.Def("größe", pyglue.Func0(one)) },
	"digit first":         func(m *pyglue.PyModule) { m.Def("1f", pyglue.Func0(one)) },
	"keyword":             func(m *pyglue.PyModule) { m.Def("lambda", pyglue.Func0(one)) },
	"nothing":             func(m *pyglue.PyModule) { m.Def("f") },
	"nil function":        func(m *pyglue.PyModule) { m.Def("f", pyglue.Func0[int](nil)) },
	"nil with a context":  func(m *pyglue.PyModule) { m.Def("f", pyglue.FuncContext0R0(nil)) },
	"nil second function": func(m *pyglue.PyModule) { m.Def("f", pyglue.Func0(one), pyglue.Func0[int](nil)) },
	"zero Func":           func(m *pyglue.PyModule) { m.Def("f", pyglue.Func{}) },
	"nil option":          func(m *pyglue.PyModule) { m.Def("f", pyglue.Func0(one), nil) },
	"argument twice":      func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x", "x"), pyglue.Func2(sum)) },
	"optional twice":      func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x", "x=None"), pyglue.Func2(optional)) },
	"keyword argument":    func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("from"), pyglue.Func1(identity)) },
	"empty argument":      func(m *pyglue.PyModule) { m.Def("f", pyglue.Args(""), pyglue.Func1(identity)) },
	"spaced argument":     func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x", "y = None"), pyglue.Func2(optional)) },
	"star argument":       func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("*x"), pyglue.Func1(identity)) },
	"NUL argument":        func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x\x00"), pyglue.Func1(identity)) },
	"no default":          func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x", "y"), pyglue.Func2(optional)) },
	"empty default":       func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x", "y="), pyglue.Func2(optional)) },
	"NUL default":         func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x", "y=\x00"), pyglue.Func2(optional)) },
	"default not ASCII":   func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x", "y='é'"), pyglue.Func2(optional)) },
	"default too many":    func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x=1"), pyglue.Func1(identity)) },
	"too few names":       func(m *pyglue.PyModule) { m.Def("f", pyglue.Args("x"), pyglue.Func2(sum)) },
	"optional first": func(m *pyglue.PyModule) {
		m.Def("f", pyglue.Args("x=None", "y"), pyglue.Func2(func(_ pyglue.Optional[int], y int) (int, error) { return y, nil }))
	},
	"overloads": func(m *pyglue.PyModule) {
		m.Def("f", pyglue.Args("x"), pyglue.Func1(identity), pyglue.Func1(typed[float64]))
	},
	"overloads of results": func(m *pyglue.PyModule) {
		m.Def("f", pyglue.Args("x"), pyglue.Func1(typed[float64]), pyglue.Func1(func(x safe.View[float32]) (int, error) { return 0, nil }))
	},
}

// mistake makes one, and returns what Def or Module panics with.
func mistake(kind string) (said string, err error) {
	declare, found := mistakes[kind]
	if !found {
		return "", fmt.Errorf("no mistake is called %q", kind)
	}
	defer func() { said = fmt.Sprint(recover()) }()
	declare(pyglue.Module("authors"))
	return "", nil
}
