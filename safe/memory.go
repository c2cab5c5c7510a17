package safe

// #cgo CFLAGS: -O2 -Wall -Wextra -Werror -std=gnu11
// #include "owner.h"
import "C"
