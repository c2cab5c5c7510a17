package pyglue

// #cgo CFLAGS: -std=gnu11 -Wall -Wextra -Werror -fvisibility=hidden -fno-plt
// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unsafe"

	_ "github.com/dlpackgo/dlpackgo/capsule" // its C side is called by ours
)

// PyModule is a module of the Python package, in which Go functions are declared.
type PyModule struct{ name string }

// Module returns the module with the given name below the extension module. Modules are declared in init functions. It
// panics over what Python cannot import by that name; a name that the extension module has already, such as Tensor, is an
// ImportError.
func Module(name string) *PyModule {
	why := notName(name)
	if why == "" && strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__") {
		why = "is such a name as Python gives"
	}
	if why != "" {
		panic(fmt.Sprintf("pyglue: Module(%q): the name %s; choose another, such as %q", name, why, "linalg"))
	}
	return &PyModule{name}
}

// Option says something about a function that Def declares.
type Option interface{ apply(*declaration) }

type option func(*declaration)

func (o option) apply(d *declaration) { o(d) }

// Args names the parameters in order. A parameter of type Optional is written with the default that documentation shows,
// as in "axis=None".
func Args(names ...string) Option {
	return option(func(d *declaration) { d.parameters = names })
}

// Doc is the docstring, in the style of NumPy. The signature is put in front of it.
func Doc(text string) Option {
	return option(func(d *declaration) { d.doc = withoutNUL(text) })
}

// Quick marks a function that takes well under a microsecond and never waits: the GIL is kept while it runs.
func Quick() Option { return QuickBelow(math.MaxInt64) }

// QuickBelow marks a function that never waits and takes well under a microsecond as long as its views have fewer elements
// in all: the GIL is kept then. To give it up and take it back costs about 70 ns.
func QuickBelow(elements int64) Option {
	return option(func(d *declaration) { d.quickBelow = elements })
}

// AnyDevice lets tensors through whose memory the host cannot read; without it they are refused.
func AnyDevice() Option {
	return option(func(d *declaration) { d.anyDevice = true })
}

// Scalars returns tensors without axes as Python numbers.
func Scalars() Option {
	return option(func(d *declaration) { d.scalars = true })
}

// declaration is one function as Python sees it.
type declaration struct {
	module, name, doc  string
	parameters         []string
	overloads          []Func
	quickBelow         int64
	anyDevice, scalars bool
}

// declared is written by init functions, and read once, when Python loads the module.
var declared struct {
	sync.Mutex
	all []*declaration
}

// Def declares a function under a name. One Func is needed; several are overloads that differ in the dtypes of their
// views, and are tried in order. Def panics when the names do not fit the parameters, are none in Python or are taken, and
// when a function or an option is nil: that is a mistake in the program, found when it is first loaded.
func (m *PyModule) Def(name string, options ...Option) {
	if m == nil {
		panic(fmt.Sprintf("pyglue: Def(%q) of a nil module; make the module with Module", name))
	}
	d := &declaration{module: m.name, name: name}
	if why := notName(name); why != "" {
		d.refuse("the name of the function %s; choose another", why)
	}
	for i, o := range options {
		if o == nil {
			d.refuse("option %d of Def, counted from 0, is nil; leave it out", i)
		}
		o.apply(d)
	}
	d.checkFunctions()
	d.checkParameters()
	declared.Lock()
	defer declared.Unlock()
	if slices.ContainsFunc(declared.all, func(other *declaration) bool { return other.module == d.module && other.name == d.name }) {
		d.refuse("the function is declared twice; choose another name, or give one Def both as overloads")
	}
	declared.all = append(declared.all, d)
}

// refuse panics over a declaration that cannot work.
func (d *declaration) refuse(format string, arguments ...any) {
	name := d.module + "." + d.name
	if notName(d.name) != "" {
		name = fmt.Sprintf("%s.%q", d.module, d.name)
	}
	panic(fmt.Sprintf("pyglue: %s: %s", name, fmt.Sprintf(format, arguments...)))
}

func (d *declaration) checkFunctions() {
	if len(d.overloads) == 0 {
		d.refuse("it is declared without a function; give Def what Func0, Func1, ... return")
	}
	for i, overload := range d.overloads {
		if !overload.given {
			d.refuse("function %d of Def, counted from 0, is nil; pass a function to Func0, Func1, ...", i)
		}
		if !overload.sameKinds(d.overloads[0]) {
			d.refuse("its overloads differ in more than dtypes; give each Def functions of the same kinds of parameters and results")
		}
	}
}

func (d *declaration) checkParameters() {
	parameters := d.overloads[0].parameters
	if len(d.parameters) != len(parameters) || len(d.parameters) > C.CALL_MAX_ARGUMENTS {
		d.refuse("the function has %d parameters, and Args has %d names; name each once, but for a context", len(parameters), len(d.parameters))
	}
	names := make([]string, len(d.parameters))
	for i, written := range d.parameters {
		name, value, hasDefault := strings.Cut(written, "=")
		if why := notName(name); why != "" {
			d.refuse("argument %q: the name %s; write it as in \"axis\", or \"axis=None\"", written, why)
		}
		if slices.Contains(names[:i], name) {
			d.refuse("argument %q: the name stands twice in Args; give each argument its own", name)
		}
		names[i] = name
		switch {
		case hasDefault != parameters[i].optional:
			d.refuse("argument %q: a default goes with Optional, and Optional with a default", written)
		case hasDefault && (strings.TrimSpace(value) == "" || strings.ContainsFunc(value, isUnreadable)):
			d.refuse("argument %q: the default is nothing that inspect.signature reads; write it in ASCII, as in \"axis=None\"", written)
		case !hasDefault && i > 0 && parameters[i-1].optional:
			d.refuse("argument %q: it is needed, and stands behind %q, which may be left out; put it in front, or make it Optional", written, d.parameters[i-1])
		}
	}
}

func isUnreadable(r rune) bool { return r < ' ' || r > unicode.MaxASCII }

// signature returns the docstring with the line in front that Python's inspect reads.
func (d *declaration) signature() string {
	return fmt.Sprintf("%s(%s)\n--\n\n%s", d.name, strings.Join(d.parameters, ", "), strings.TrimSpace(d.doc))
}

// functions are the Go functions by the numbers that frames carry, and parametersOf what they take.
var (
	functions    []func(*C.call_frame) error
	parametersOf [][]parameter
)

// toC writes the declaration into C memory, where it stays as long as the process.
func (d *declaration) toC() *C.call_declaration {
	c := (*C.call_declaration)(C.calloc(1, C.sizeof_call_declaration))
	overloads := (*C.call_overload)(C.calloc(C.size_t(len(d.overloads)), C.sizeof_call_overload))
	c.module, c.name, c.doc = C.CString(d.module), C.CString(d.name), C.CString(d.signature())
	c.quick_below, c.any_device, c.scalars = C.int64_t(d.quickBelow), C.bool(d.anyDevice), C.bool(d.scalars)
	c.context = C.bool(d.overloads[0].context)
	c.overloads, c.overload_count = overloads, C.int(len(d.overloads))
	for i, parameter := range d.overloads[0].parameters {
		name, _, _ := strings.Cut(d.parameters[i], "=")
		c.parameters[i] = C.call_parameter{name: C.CString(name), kind: C.int(parameter.kind), optional: C.bool(parameter.optional)}
	}
	c.parameter_count = C.int(len(d.parameters))
	for i, kind := range d.overloads[0].results {
		c.results[i] = C.int(kind)
	}
	c.result_count = C.int(len(d.overloads[0].results))
	for o, overload := range unsafe.Slice(overloads, len(d.overloads)) {
		overload.function = C.int32_t(len(functions))
		functions = append(functions, d.overloads[o].call)
		parametersOf = append(parametersOf, d.overloads[o].parameters)
		for i, parameter := range d.overloads[o].parameters {
			overload.dtypes[i] = C.DLDataType{
				code:  C.uint8_t(parameter.dtype.Code),
				bits:  C.uint8_t(parameter.dtype.Bits),
				lanes: C.uint16_t(parameter.dtype.Lanes),
			}
		}
		unsafe.Slice(overloads, len(d.overloads))[o] = overload
	}
	return c
}

//export dlpackgoDeclare
func dlpackgoDeclare() {
	declared.Lock()
	defer declared.Unlock()
	next := &C.call_declarations
	for _, d := range declared.all {
		*next = d.toC()
		next = &(*next).next
	}
}
