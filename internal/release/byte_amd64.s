//go:build !race

#include "textflag.h"

// Stores are seen in the order of the program.
TEXT ·Byte(SB), NOSPLIT, $0-16
	MOVQ word+0(FP), AX
	MOVQ place+8(FP), CX
	MOVB $0, (AX)(CX*1)
	RET
