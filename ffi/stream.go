package ffi

// streamKind names a row of streamRules.
type streamKind uint8

const (
	streamsNone streamKind = iota
	streamsCUDA
	streamsROCM
	streamsOther
)
