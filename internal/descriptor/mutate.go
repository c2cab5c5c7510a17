package descriptor

import (
	"math/rand/v2"
	"slices"
)

// Mutations hands n inputs for Parse to try: seeds of which one to four bytes were changed. They are no match for a fuzzer
// that watches the code, and a hundred times as many. The slices are used again.
func Mutations(n int, random *rand.Rand, try func(header, axes []byte)) {
	type input struct{ header, axes []byte }
	var seeds []input
	Seeds(func(header, axes []byte) { seeds = append(seeds, input{header, axes}) })
	var both []byte
	for range n {
		s := seeds[random.IntN(len(seeds))]
		both = append(append(both[:0], s.header...), s.axes...)
		for range 1 + random.IntN(4) {
			if len(both) > 0 {
				both[random.IntN(len(both))] = anyByte(random)
			}
		}
		try(both[:len(s.header)], slices.Clip(both[len(s.header):]))
	}
}

// anyByte returns a byte at a border as often as any.
func anyByte(random *rand.Rand) byte {
	borders := [...]byte{0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff}
	if i := random.IntN(2 * len(borders)); i < len(borders) {
		return borders[i]
	}
	return byte(random.Uint32())
}
