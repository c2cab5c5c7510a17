//go:build (amd64 || arm64) && !race

package release

// Byte makes one byte of *word zero: the lowest for place 0, the highest for 7. Everything that was written before is visible to
// whoever finds it zero. The other bytes may be changed at the same time by atomic operations on the whole word.
//
//go:noescape
func Byte(word *uint64, place uint)
