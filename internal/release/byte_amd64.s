//go:build !race

#include "textflag.h"

// Stores are seen in the order of the program.
TEXT ·Byte(SB), NOSPLIT, $0-8
	MOVQ word+0(FP), AX
	MOVB $0, (AX)
	RET
