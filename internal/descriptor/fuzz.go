package descriptor

import (
	"encoding/binary"
	"math"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// headerSize is how many bytes of a fuzzed header Parse reads.
const headerSize = 28

// Bits of the last byte of a header.
const (
	nullShape = 1 << iota
	nullStrides
	nullData
)

// Parse reads a description from fuzzed bytes. Each field is that of New exclusive-or what the header has for it, so
// that few set bits make a description that is sound but for little: a random one would fall at the first rule.
func Parse(header, axes []byte) *Description {
	var h [headerSize]byte
	copy(h[:], header)
	d := New()
	d.Shape, d.Strides = Axes(axes)
	d.Major ^= uint32(h[0])
	d.Minor ^= uint32(h[1])
	d.Flags ^= ffi.Flags(h[2]) | ffi.Flags(h[3])<<56
	d.Data ^= binary.LittleEndian.Uint64(h[4:])
	d.ByteOffset ^= binary.LittleEndian.Uint64(h[12:])
	d.Device.DeviceType ^= ffi.DLDeviceType(int8(h[20]))
	d.Device.DeviceID ^= int32(int8(h[21]))
	d.NDim = int32(len(d.Shape)) ^ int32(int8(h[22]))<<7 // left alone, or out of range
	d.DType.Code ^= ffi.DLDataTypeCode(h[23])
	d.DType.Bits ^= h[24]
	d.DType.Lanes ^= binary.LittleEndian.Uint16(h[25:])
	if h[27]&nullShape != 0 {
		d.Shape = nil
	}
	if h[27]&nullStrides != 0 {
		d.Strides = nil
	}
	if h[27]&nullData != 0 {
		d.Data = 0
	}
	return d
}

// Seeds calls add with headers and axes that lead Parse into every corner: each dtype, each device, and layouts that
// are compact, transposed, reversed, broadcast, empty, and too large.
func Seeds(add func(header, axes []byte)) {
	layouts := [][]byte{
		axisBytes(),
		axisBytes(2, 3, 3, 1),
		axisBytes(2, 1, 3, 2),
		axisBytes(2, 3, 3, -1),
		axisBytes(4, 0, 3, 1),
		axisBytes(1, 60, 3, 1),
		axisBytes(0, -4, 4, 1),
		axisBytes(2, 3, -3, 1),
		axisBytes(1<<32, 1<<32, 1<<32, 1),
		axisBytes(2, math.MaxInt64, 2, math.MaxInt64),
		axisBytes(3, math.MinInt64),
		axisBytes(1<<61, 1),
		axisBytes(2, 60, 3, 16, 4, 4, 4, 1),
	}
	for _, axes := range layouts {
		add(nil, axes)
		for code := range byte(20) {
			for _, width := range []byte{1, 4, 6, 8, 16, 32, 64, 128} {
				if (ffi.DLDataType{Code: ffi.DLDataTypeCode(code), Bits: width, Lanes: 1}).Valid() || width == 8 {
					var h [headerSize]byte
					h[23], h[24] = code^byte(ffi.Float), width^32
					add(h[:], axes)
				}
			}
		}
	}
	for field := range headerSize {
		for bit := range 8 {
			var h [headerSize]byte
			h[field] = 1 << bit
			add(h[:], axisBytes(2, 3, 3, 1))
			add(h[:], axisBytes(2, -1, 3, 2))
		}
	}
}

// axisBytes is what Axes reads back as these extents and strides, given in turn.
func axisBytes(values ...int64) []byte {
	var data []byte
	for _, value := range values {
		data = append(data, 0xff)
		data = binary.LittleEndian.AppendUint64(data, uint64(value))
	}
	return data
}
