package images_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/adapters/images"
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

func TestPlanesOfEverySubsamplingShareMemory(t *testing.T) {
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		t.Run(ratio.String(), func(t *testing.T) {
			whole := image.NewYCbCr(image.Rect(0, 0, 13, 7), ratio)
			for i := range whole.Cr {
				whole.Cr[i] = uint8(i)
			}
			for _, m := range []*image.YCbCr{whole, whole.SubImage(image.Rect(3, 1, 10, 6)).(*image.YCbCr)} {
				p := must(images.FromYCbCr(m))
				last := m.Rect.Max.Sub(image.Pt(1, 1))
				if got := must(p.Cr.At(p.Cr.Dim(0)-1, p.Cr.Dim(1)-1)); got != m.YCbCrAt(last.X, last.Y).Cr {
					t.Errorf("the last sample of %v is %d", m.Rect, got)
				}
				if m != whole {
					continue
				}
				back := must(images.ToYCbCr(p, ratio))
				if back.YCbCrAt(12, 6) != m.YCbCrAt(12, 6) || &back.Cb[0] != &m.Cb[0] {
					t.Error("came back changed")
				}
			}
		})
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
