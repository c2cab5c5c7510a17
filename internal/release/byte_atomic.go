//go:build !(amd64 || arm64) || race

package release

import "sync/atomic"

// Byte makes the lowest byte of *word zero. Everything that was written before is visible to whoever finds it zero. The other
// bytes may be changed at the same time by atomic operations on the whole word.
func Byte(word *uint64) { atomic.AndUint64(word, ^uint64(0xff)) }
