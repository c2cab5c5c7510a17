// Command plain is a Go library for ctypes: addresses and lengths go in as integers, a status comes back. Nothing is checked but
// what the caller says.
package main

import "C"

import "unsafe"

// Three does what the functions of the other peers do.
//
//export Three
func Three(a unsafe.Pointer, an C.long, b unsafe.Pointer, bn C.long, c unsafe.Pointer, cn C.long) C.int {
	if an != bn || an != cn {
		return 1
	}
	return 0
}

// Nothing does nothing.
//
//export Nothing
func Nothing() {}

func main() {}
