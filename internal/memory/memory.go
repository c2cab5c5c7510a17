// Package memory tells whether there is memory before Go's runtime is asked for it, which ends the process where there is not.
package memory

// #include <stdlib.h>
// static _Bool available(size_t size)
// {
//     void *volatile block = malloc(size); /* volatile, or the compiler leaves both calls out */
//     free(block);
//     return block != NULL;
// }
import "C"

// little is what no program is short of without being at its end anyway.
const little = 1 << 24

// Available reports whether so many bytes could be allocated at once, as the C library sees it. It asks for them and gives them
// back, untouched.
func Available(bytes int64) bool {
	return bytes <= little || bool(C.available(C.size_t(bytes)))
}
