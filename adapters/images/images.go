package images

import (
	"fmt"
	"image"

	"github.com/dlpackgo/dlpackgo/ffi"
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
//
// Pixels share a sample of colour by their position on the whole picture. In a part that begins between two pixels of
// one sample, the first sample has fewer pixels than the others, so that a part needs its place to be read.
type Planes struct {
	Y, Cb, Cr safe.MutView[uint8]

	Origin image.Point // where the first pixel lies on the whole picture; the zero value for a whole one
}

// PlaneError says that a plane of colour does not have the size that goes with the brightness.
type PlaneError struct {
	Plane     string // "Cb" or "Cr"
	Got, Want [2]int // height and width
	Picture   image.Rectangle
	Ratio     image.YCbCrSubsampleRatio
}

// Error returns the message.
func (e *PlaneError) Error() string {
	return fmt.Sprintf("images: %s has shape (%d, %d); (%d, %d) is needed for the pixels %v with %v; give it that shape, and Origin the place of Y on the whole picture",
		e.Plane, e.Got[0], e.Got[1], e.Want[0], e.Want[1], e.Picture, e.Ratio)
}

// Unwrap returns safe.ErrLength.
func (e *PlaneError) Unwrap() error { return safe.ErrLength }

// FromYCbCr returns views of the planes of m, each of shape (height, width), and where m begins.
func FromYCbCr(m *image.YCbCr) (Planes, error) {
	if m == nil {
		return Planes{}, errNil
	}
	p := Planes{Origin: m.Rect.Min}
	lines, columns := chroma(m.Rect, m.SubsampleRatio)
	for _, from := range []struct {
		name                   string
		view                   *safe.MutView[uint8]
		pixels                 []uint8
		stride, lines, columns int
	}{
		{"Y", &p.Y, m.Y, m.YStride, m.Rect.Dy(), m.Rect.Dx()},
		{"Cb", &p.Cb, m.Cb, m.CStride, lines, columns},
		{"Cr", &p.Cr, m.Cr, m.CStride, lines, columns},
	} {
		var err error
		if *from.view, err = plane(from.pixels, from.stride, from.columns, from.lines); err != nil {
			return Planes{}, ofPlane(from.name, err)
		}
	}
	return p, nil
}

// ToYCbCr returns an image over the memory of the planes, whose bounds begin at the origin. The planes of colour have the
// size that ratio asks for there, else it is a PlaneError, and rows as far apart as each other.
func ToYCbCr(p Planes, ratio image.YCbCrSubsampleRatio) (*image.YCbCr, error) {
	y, yStride, err := rows(p.Y, 1)
	if err != nil {
		return nil, ofPlane("Y", err)
	}
	bounds := image.Rect(0, 0, p.Y.Dim(1), p.Y.Dim(0)).Add(p.Origin)
	if bounds.Max.X < bounds.Min.X || bounds.Max.Y < bounds.Min.Y {
		return nil, fmt.Errorf("images: Origin is %v, from where %d columns and %d rows reach further than an int counts; pass the origin that FromYCbCr gave: %w",
			p.Origin, p.Y.Dim(1), p.Y.Dim(0), ffi.ErrSize)
	}
	m := &image.YCbCr{Y: y, YStride: yStride, SubsampleRatio: ratio, Rect: bounds}
	var crStride int
	for _, to := range []struct {
		name   string
		view   safe.MutView[uint8]
		pixels *[]uint8
		stride *int
	}{{"Cb", p.Cb, &m.Cb, &m.CStride}, {"Cr", p.Cr, &m.Cr, &crStride}} {
		if *to.pixels, *to.stride, err = rows(to.view, 1); err != nil {
			return nil, ofPlane(to.name, err)
		}
		lines, columns := chroma(bounds, ratio)
		if got, want := [2]int{to.view.Dim(0), to.view.Dim(1)}, [2]int{lines, columns}; got != want {
			return nil, &PlaneError{Plane: to.name, Got: got, Want: want, Picture: bounds, Ratio: ratio}
		}
	}
	if len(m.Cb) > 0 && p.Cb.Dim(0) > 1 && crStride != m.CStride {
		return nil, ofPlane("Cr", &safe.LayoutError{Axis: 0, Got: int64(crStride), Want: int64(m.CStride), Fix: "give it rows as far apart as those of Cb"})
	}
	return m, nil
}

// ofPlane says which plane err is about.
func ofPlane(name string, err error) error { return fmt.Errorf("images: %s: %w", name, err) }

// chroma returns the shape of a plane of colour.
func chroma(r image.Rectangle, ratio image.YCbCrSubsampleRatio) (lines, columns int) {
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
	return samples(r.Min.Y, r.Max.Y, down), samples(r.Min.X, r.Max.X, across)
}

// samples returns how many samples of colour the pixels from low to before high have, as image.YCbCr finds them: by
// division that rounds towards zero.
func samples(low, high, each int) int {
	if high <= low {
		return 0
	}
	return (high-1)/each - low/each + 1
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
	if v.Size() == 0 { // strides lead nowhere
		return nil, int(width), nil
	}
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
