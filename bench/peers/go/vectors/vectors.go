// Package vectors is what gopy generates a Python module from.
package vectors

import "errors"

// Three does what the functions of the other peers do.
func Three(a, b, c []float64) error {
	if len(a) != len(b) || len(a) != len(c) {
		return errors.New("the arrays differ in size")
	}
	return nil
}

// One does what the functions of the other peers do.
func One(a []float64) error {
	if len(a) == 0 {
		return errors.New("a is empty")
	}
	return nil
}

// Nothing does nothing.
func Nothing() {}
