package images_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/adapters/images"
	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func ExampleFromRGBA() {
	m := image.NewRGBA(image.Rect(0, 0, 4, 3))
	v, err := images.FromRGBA(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	green, _ := v.Slice(2, 1, 2, 1) // one channel of all pixels
	_ = green.CopyFrom(slices.Repeat([]uint8{200}, 12))
	fmt.Println(v, m.At(3, 2))
	// Output: uint8 (3, 4, 4) on cpu:0 {0 200 0 0}
}

func ExampleFromYCbCr() {
	picture := image.NewYCbCr(image.Rect(0, 0, 16, 16), image.YCbCrSubsampleRatio420) // as image/jpeg makes them
	part := picture.SubImage(image.Rect(5, 3, 12, 9)).(*image.YCbCr)
	p, err := images.FromYCbCr(part)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = p.Y.Set(200, 0, 0)
	fmt.Println(p.Y.Shape(), p.Cb.Shape(), p.Origin, picture.YCbCrAt(5, 3).Y)
	back, err := images.ToYCbCr(p, part.SubsampleRatio)
	fmt.Println(back.Bounds() == part.Bounds(), err)
	// Output:
	// [6 7] [4 4] (5,3) 200
	// true <nil>
}

func ExampleToGray() {
	tensor, err := safe.New[uint8](2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tensor.Close()
	v, _ := safe.MutViewOf[uint8](tensor)
	m, err := images.ToGray(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	m.SetGray(2, 1, color.Gray{Y: 9})
	pixel, _ := v.At(1, 2)
	fmt.Println(m.Bounds(), pixel)
	// Output: (0,0)-(3,2) 9
}

func TestPartsOfColourImagesShareMemory(t *testing.T) {
	whole := image.NewNRGBA(image.Rect(0, 0, 6, 5))
	part := whole.SubImage(image.Rect(2, 1, 5, 4)).(*image.NRGBA)
	v := must(images.FromNRGBA(part))
	if !slices.Equal(v.Shape(), []int64{3, 3, 4}) || !slices.Equal(v.Strides(), []int64{24, 4, 1}) {
		t.Fatalf("view is %v with strides %v", v, v.Strides())
	}
	if err := v.Set(77, 2, 1, 3); err != nil {
		t.Fatal(err)
	}
	if got := whole.NRGBAAt(3, 3).A; got != 77 {
		t.Errorf("the image has %v", got)
	}
	back := must(images.ToNRGBA(v))
	if back.NRGBAAt(1, 2).A != 77 || back.Stride != 24 {
		t.Errorf("came back with stride %d", back.Stride)
	}
	rgba := must(images.ToRGBA(must(v.Slice(0, 0, 3, 2))))
	if rgba.RGBAAt(1, 1).A != 77 || rgba.Stride != 48 {
		t.Errorf("every other row has stride %d", rgba.Stride)
	}
}

var ratios = []image.YCbCrSubsampleRatio{
	image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
	image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
}

// colourful returns an image whose samples differ from their neighbours.
func colourful(r image.Rectangle, ratio image.YCbCrSubsampleRatio) *image.YCbCr {
	m := image.NewYCbCr(r, ratio)
	for i := range m.Y {
		m.Y[i] = uint8(i)
	}
	for i := range m.Cb {
		m.Cb[i], m.Cr[i] = uint8(i), uint8(255-i)
	}
	return m
}

func TestPlanesOfEverySubsamplingShareMemory(t *testing.T) {
	for _, ratio := range ratios {
		m := colourful(image.Rect(0, 0, 13, 7), ratio)
		back := must(images.ToYCbCr(must(images.FromYCbCr(m)), ratio))
		if &back.Y[0] != &m.Y[0] || &back.Cb[0] != &m.Cb[0] || &back.Cr[0] != &m.Cr[0] {
			t.Errorf("%v came back as a copy", ratio)
		}
	}
}

func TestEveryPartOfAnImageOfPlanesKeepsItsColours(t *testing.T) {
	const low, high = -5, 6
	var ranges [][2]int
	for from := low; from < high; from++ {
		for to := from + 1; to <= high; to++ {
			ranges = append(ranges, [2]int{from, to})
		}
	}
	for _, ratio := range ratios {
		whole := colourful(image.Rect(low, low, high, high), ratio)
		for _, x := range ranges {
			for _, y := range ranges {
				part := whole.SubImage(image.Rect(x[0], y[0], x[1], y[1])).(*image.YCbCr)
				back, err := images.ToYCbCr(must(images.FromYCbCr(part)), ratio)
				if err != nil {
					t.Fatalf("%v of %v: %v", ratio, part.Rect, err)
				}
				expectSamePixels(t, back, part)
			}
		}
	}
}

func expectSamePixels(t *testing.T, got, want *image.YCbCr) {
	t.Helper()
	if got.Rect != want.Rect {
		t.Fatalf("%v of %v came back as %v", want.SubsampleRatio, want.Rect, got.Rect)
	}
	for y := want.Rect.Min.Y; y < want.Rect.Max.Y; y++ {
		for x := want.Rect.Min.X; x < want.Rect.Max.X; x++ {
			if got.YCbCrAt(x, y) != want.YCbCrAt(x, y) {
				t.Fatalf("%v of %v: pixel (%d, %d) is %v; want %v", want.SubsampleRatio, want.Rect, x, y, got.YCbCrAt(x, y), want.YCbCrAt(x, y))
			}
		}
	}
}

func TestAPlaneThatDoesNotFitIsNamed(t *testing.T) {
	p := must(images.FromYCbCr(image.NewYCbCr(image.Rect(0, 0, 6, 4), image.YCbCrSubsampleRatio420)))
	bytes := func(shape ...int) safe.MutView[uint8] {
		size := 1
		for _, extent := range shape {
			size *= extent
		}
		return must(safe.SliceMutView(make([]uint8, size), shape...))
	}
	p.Y, p.Cb, p.Cr = bytes(4, 6), bytes(2, 3), bytes(2, 3)
	for _, row := range []struct {
		change func(*images.Planes)
		want   error
		text   string
	}{
		{func(p *images.Planes) { p.Cb = bytes(3, 2) }, safe.ErrLength, "images: Cb has shape (3, 2); (2, 3) is needed"},
		{func(p *images.Planes) { p.Cr = bytes(4, 6) }, safe.ErrLength, "images: Cr has shape (4, 6); (2, 3) is needed"},
		{func(p *images.Planes) { p.Origin.X = 1 }, safe.ErrLength, "images: Cb has shape (2, 3); (2, 4) is needed"},
		{func(p *images.Planes) { p.Cr = bytes(6) }, safe.ErrRank, "images: Cr: "},
		{func(p *images.Planes) { p.Y = must(p.Y.Transpose()) }, safe.ErrLayout, "images: Y: "},
		{func(p *images.Planes) { p.Cr = must(bytes(4, 3).Slice(0, 0, 4, 2)) }, safe.ErrLayout, "images: Cr: safe: strides[0] is 6; 3 is needed; give it rows as far apart as those of Cb"},
		{func(p *images.Planes) { p.Origin.Y = math.MaxInt }, ffi.ErrSize, "images: Origin is "},
	} {
		changed := p
		row.change(&changed)
		_, err := images.ToYCbCr(changed, image.YCbCrSubsampleRatio420)
		if !errors.Is(err, row.want) || !strings.HasPrefix(err.Error(), row.text) {
			t.Errorf("got %v, want %s", err, row.text)
		}
	}
	m := colourful(image.Rect(0, 0, 6, 4), image.YCbCrSubsampleRatio420)
	m.Cr = m.Cr[:5]
	if _, err := images.FromYCbCr(m); !errors.Is(err, safe.ErrLength) || !strings.HasPrefix(err.Error(), "images: Cr: ") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNoImageIsRefused(t *testing.T) {
	v := must(safe.SliceMutView(make([]uint8, 48), 3, 4, 4))
	_, three := images.ToRGBA(must(v.Slice(2, 0, 3, 1)))
	_, flat := images.ToRGBA(must(v.Reshape(12, 4)))
	_, turned := images.ToRGBA(must(v.Transpose(1, 0, 2)))
	_, mirrored := images.ToRGBA(must(v.Slice(1, 3, -1, -1)))
	_, channel := images.ToGray(must(must(v.Transpose(2, 0, 1)).Sub(1)))
	_, deep := images.ToGray(v)
	for _, row := range []struct{ got, want error }{
		{three, safe.ErrLength}, {flat, safe.ErrRank}, {turned, safe.ErrLayout}, {mirrored, safe.ErrLayout},
		{channel, safe.ErrLayout}, {deep, safe.ErrRank},
	} {
		if !errors.Is(row.got, row.want) {
			t.Errorf("got %v, want %v", row.got, row.want)
		}
	}
	p := must(images.FromYCbCr(image.NewYCbCr(image.Rect(0, 0, 4, 4), image.YCbCrSubsampleRatio420)))
	if _, err := images.ToYCbCr(p, image.YCbCrSubsampleRatio444); !errors.Is(err, safe.ErrLength) {
		t.Errorf("got %v", err)
	}
	if _, err := images.FromGray(&image.Gray{Pix: make([]uint8, 5), Stride: 3, Rect: image.Rect(0, 0, 3, 2)}); !errors.Is(err, safe.ErrLength) {
		t.Errorf("got %v", err)
	}
}

func TestEmptyImagesStayEmpty(t *testing.T) {
	m := must(images.ToRGBA(must(images.FromRGBA(image.NewRGBA(image.Rect(0, 0, 0, 3))))))
	if !m.Rect.Empty() {
		t.Errorf("bounds are %v", m.Rect)
	}
	for _, ratio := range ratios {
		for _, r := range []image.Rectangle{{}, image.Rect(1, 1, 1, 4), image.Rect(-3, 1, 2, 1)} {
			back := must(images.ToYCbCr(must(images.FromYCbCr(image.NewYCbCr(r, ratio))), ratio))
			if back.Rect != r {
				t.Errorf("%v of %v came back as %v", ratio, r, back.Rect)
			}
		}
	}
}

func TestStridesOfAnImageWithoutPixelsMeanNothing(t *testing.T) {
	for _, shape := range [][]int64{{5, 0}, {0, 5}, {0, 0}} {
		for _, strides := range [][]int64{{-3, 1}, {0, 0}, {1, 7}, {math.MaxInt64, math.MinInt64}} {
			v := must(safe.StridedMutView([]uint8{}, shape, strides))
			grey := must(images.ToGray(v))
			planes := must(images.ToYCbCr(images.Planes{Y: v, Cb: v, Cr: v}, image.YCbCrSubsampleRatio444))
			colour := must(images.ToRGBA(must(safe.StridedMutView([]uint8{}, append(shape, 4), append(strides, -2)))))
			for _, got := range []image.Rectangle{grey.Rect, planes.Rect, colour.Rect} {
				if got != image.Rect(0, 0, int(shape[1]), int(shape[0])) {
					t.Errorf("%v with strides %v became %v", shape, strides, got)
				}
			}
			must(images.FromGray(&image.Gray{Stride: int(strides[0]), Rect: grey.Rect}))
		}
	}
}

func TestAMissingImageIsAnError(t *testing.T) {
	for name, from := range map[string]func() error{
		"RGBA":  func() error { _, err := images.FromRGBA(nil); return err },
		"NRGBA": func() error { _, err := images.FromNRGBA(nil); return err },
		"Gray":  func() error { _, err := images.FromGray(nil); return err },
		"YCbCr": func() error { _, err := images.FromYCbCr(nil); return err },
	} {
		if err := from(); !errors.Is(err, safe.ErrEmpty) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestImagesWithoutTheirPixelsAreRefused(t *testing.T) {
	for name, m := range map[string]image.RGBA{
		"no pixels":          {Stride: 8, Rect: image.Rect(0, 0, 2, 2)},
		"too few pixels":     {Pix: make([]uint8, 15), Stride: 8, Rect: image.Rect(0, 0, 2, 2)},
		"rows in each other": {Pix: make([]uint8, 64), Stride: 4, Rect: image.Rect(0, 0, 2, 2)},
		"rows backwards":     {Pix: make([]uint8, 64), Stride: -8, Rect: image.Rect(0, 0, 2, 2)},
		"bounds backwards":   {Pix: make([]uint8, 64), Stride: 8, Rect: image.Rectangle{Min: image.Pt(2, 2)}},
		"endless bounds":     {Pix: make([]uint8, 64), Stride: 8, Rect: image.Rectangle{Max: image.Pt(math.MaxInt, math.MaxInt)}},
		"wrapping bounds":    {Pix: make([]uint8, 64), Stride: 8, Rect: image.Rectangle{Min: image.Pt(math.MinInt, 0), Max: image.Pt(math.MaxInt, 1)}},
	} {
		if _, err := images.FromRGBA(&m); err == nil {
			t.Errorf("%s is an image", name)
		}
		ycbcr := &image.YCbCr{Y: m.Pix, Cb: m.Pix, Cr: m.Pix, YStride: m.Stride / 4, CStride: m.Stride / 4, Rect: m.Rect}
		if _, err := images.FromYCbCr(ycbcr); err == nil && name != "too few pixels" && name != "rows in each other" {
			t.Errorf("%s is an image of planes", name)
		}
	}
	var nothing safe.MutView[uint8]
	_, rgba := images.ToRGBA(nothing)
	_, nrgba := images.ToNRGBA(nothing)
	_, grey := images.ToGray(nothing)
	_, planes := images.ToYCbCr(images.Planes{}, image.YCbCrSubsampleRatio420)
	_, half := images.ToYCbCr(images.Planes{Y: must(safe.SliceMutView(make([]uint8, 4), 2, 2))}, image.YCbCrSubsampleRatio420)
	for _, err := range []error{rgba, nrgba, grey, planes, half} {
		if !errors.Is(err, safe.ErrEmpty) {
			t.Errorf("got %v", err)
		}
	}
}
