package images

import (
	"fmt"
	"image"

	"github.com/dlpackgo/dlpackgo/safe"
)

var errNil = fmt.Errorf("images: the image is nil; pass one: %w", safe.ErrEmpty)

// FromRGBA returns a view of m, of shape (height, width, 4).
func FromRGBA(m *image.RGBA) (safe.MutView[uint8], error) {
	if m == nil {
		return safe.MutView[uint8]{}, errNil
	}
	return colours(m.Pix, m.Stride, m.Rect)
}

// FromNRGBA returns a view of m, of shape (height, width, 4).
func FromNRGBA(m *image.NRGBA) (safe.MutView[uint8], error) {
	if m == nil {
		return safe.MutView[uint8]{}, errNil
	}
	return colours(m.Pix, m.Stride, m.Rect)
}

// FromGray returns a view of m, of shape (height, width).
func FromGray(m *image.Gray) (safe.MutView[uint8], error) {
	if m == nil {
		return safe.MutView[uint8]{}, errNil
	}
	return plane(m.Pix, m.Stride, m.Rect.Dx(), m.Rect.Dy())
}

// ToRGBA returns an image over the memory of v, which has the shape (height, width, 4).
func ToRGBA(v safe.MutView[uint8]) (*image.RGBA, error) {
	pixels, stride, err := rows(v, 4)
	if err != nil {
		return nil, err
	}
	return &image.RGBA{Pix: pixels, Stride: stride, Rect: image.Rect(0, 0, v.Dim(1), v.Dim(0))}, nil
}

// ToNRGBA returns an image over the memory of v, which has the shape (height, width, 4).
func ToNRGBA(v safe.MutView[uint8]) (*image.NRGBA, error) {
	m, err := ToRGBA(v)
	if err != nil {
		return nil, err
	}
	return &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}, nil
}

// ToGray returns an image over the memory of v, which has the shape (height, width).
func ToGray(v safe.MutView[uint8]) (*image.Gray, error) {
	pixels, stride, err := rows(v, 1)
	if err != nil {
		return nil, err
	}
	return &image.Gray{Pix: pixels, Stride: stride, Rect: image.Rect(0, 0, v.Dim(1), v.Dim(0))}, nil
}

// Planes is a YCbCr image: brightness at full size, and two planes of colour that may be smaller.
type Planes struct {
	Y, Cb, Cr safe.MutView[uint8]
}

// FromYCbCr returns views of the planes of m, each of shape (height, width).
func FromYCbCr(m *image.YCbCr) (Planes, error) {
	if m == nil {
		return Planes{}, errNil
	}
	columns, lines := chroma(m.Rect, m.SubsampleRatio)
	y, err := plane(m.Y, m.YStride, m.Rect.Dx(), m.Rect.Dy())
	if err != nil {
		return Planes{}, err
	}
	cb, err := plane(m.Cb, m.CStride, columns, lines)
	if err != nil {
		return Planes{}, err
	}
	cr, err := plane(m.Cr, m.CStride, columns, lines)
	return Planes{y, cb, cr}, err
}

// ToYCbCr returns an image over the memory of the planes. Those of colour have the size that ratio asks for, and rows as
// far apart as each other.
func ToYCbCr(p Planes, ratio image.YCbCrSubsampleRatio) (*image.YCbCr, error) {
	y, yStride, err := rows(p.Y, 1)
	if err != nil {
		return nil, err
	}
	m := &image.YCbCr{Y: y, YStride: yStride, SubsampleRatio: ratio, Rect: image.Rect(0, 0, p.Y.Dim(1), p.Y.Dim(0))}
	columns, lines := chroma(m.Rect, ratio)
	var crStride int
	for _, c := range []struct {
		view   safe.MutView[uint8]
		pixels *[]uint8
		stride *int
	}{{p.Cb, &m.Cb, &m.CStride}, {p.Cr, &m.Cr, &crStride}} {
		if *c.pixels, *c.stride, err = rows(c.view, 1); err != nil {
			return nil, err
		}
		if c.view.Dim(0) != lines || c.view.Dim(1) != columns {
			return nil, &safe.LengthError{What: "a plane of colour", Got: c.view.Size(), Want: lines * columns, Fix: "its size must be what the ratio asks for"}
		}
	}
	if lines > 1 && crStride != m.CStride {
		return nil, &safe.LayoutError{Axis: 0, Got: int64(crStride), Want: int64(m.CStride)}
	}
	return m, nil
}

// chroma returns the size of a plane of colour.
func chroma(r image.Rectangle, ratio image.YCbCrSubsampleRatio) (columns, lines int) {
	across, down := 1, 1
	switch ratio {
	case image.YCbCrSubsampleRatio422:
		across = 2
	case image.YCbCrSubsampleRatio420:
		across, down = 2, 2
	case image.YCbCrSubsampleRatio440:
		down = 2
	case image.YCbCrSubsampleRatio411:
		across = 4
	case image.YCbCrSubsampleRatio410:
		across, down = 4, 2
	}
	// Pixels share a sample by their position on the whole picture, also in a part of one.
	samples := func(low, high, each int) int { return (high+each-1)/each - low/each }
	return samples(r.Min.X, r.Max.X, across), samples(r.Min.Y, r.Max.Y, down)
}

func colours(pixels []uint8, stride int, r image.Rectangle) (safe.MutView[uint8], error) {
	return safe.StridedMutView(pixels, []int64{int64(r.Dy()), int64(r.Dx()), 4}, []int64{int64(stride), 4, 1})
}

func plane(pixels []uint8, stride, columns, lines int) (safe.MutView[uint8], error) {
	return safe.StridedMutView(pixels, []int64{int64(lines), int64(columns)}, []int64{int64(stride), 1})
}

// rows returns the memory of a picture whose pixels take channels bytes, and how far its rows are apart.
func rows(v safe.MutView[uint8], channels int) ([]uint8, int, error) {
	pixels, _, err := v.Span()
	if err != nil {
		return nil, 0, err
	}
	shape, strides := v.Shape(), v.Strides()
	rank := 2
	if channels > 1 {
		rank = 3
	}
	if len(shape) != rank {
		return nil, 0, &safe.RankError{Got: len(shape), Want: rank}
	}
	if rank == 3 && shape[2] != int64(channels) {
		return nil, 0, &safe.LengthError{What: "a pixel", Got: int(shape[2]), Want: channels, Fix: "give the image that many channels"}
	}
	width := int64(channels) * shape[1]
	for axis, want := range []int64{width, int64(channels), 1} {
		switch {
		case axis >= len(shape) || shape[axis] < 2:
		case axis == 0 && strides[0] >= want:
		case strides[axis] != want:
			return nil, 0, &safe.LayoutError{Axis: axis, Got: strides[axis], Want: want}
		}
	}
	if shape[0] < 2 {
		return pixels, int(width), nil
	}
	return pixels, int(strides[0]), nil
}
