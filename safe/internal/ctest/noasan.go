//go:build !asan

package ctest

// AddressSanitizer says whether this is a build with -asan.
const AddressSanitizer = false
