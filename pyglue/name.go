package pyglue

import (
	"regexp"
	"slices"
	"strings"
)

// keywords of Python, which no parameter can be called, and no function with a name before a dot.
// See https://docs.python.org/3/reference/lexical_analysis.html#keywords; __debug__ cannot be assigned to either.
var keywords = strings.Fields(`False None True __debug__ and as assert async await break class continue def del elif else except
	finally for from global if import in is lambda nonlocal not or pass raise return try while with yield`)

// identifier is narrower than Python's: inspect.signature reads signatures of builtins in ASCII only.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// notName says why Python cannot use name, in words that follow "the name"; nothing when it can.
func notName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case slices.Contains(keywords, name):
		return "is a keyword of Python"
	case strings.Contains(name, "."):
		return "has a dot in it"
	case !identifier.MatchString(name):
		return "is no identifier: ASCII letters, digits and underscores, and no digit first"
	}
	return ""
}
