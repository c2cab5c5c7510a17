// Go would keep the files open from which it reads the limits of a container; a Python process owns its descriptors.
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command core is the extension module dlpackgo._core. It registers Go functions and holds no logic of its own.
package main

// #include "module.h"
import "C"

import _ "github.com/dlpackgo/dlpackgo/pyglue" // the module itself

func main() {}
