package safe_test

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

// oddBools returns a view of bools over bytes that no Go program would make bools of.
func oddBools(t *testing.T, raw []uint8, shape, strides []int64) safe.MutView[bool] {
	t.Helper()
	v, err := safe.FromRawPartsMut[bool](unsafe.Pointer(unsafe.SliceData(raw)), ffi.DLDevice{DeviceType: ffi.CPU}, shape, strides)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// countTrue counts the true ones, which is what an odd bool breaks: the compiler may add its byte.
func countTrue(elements []bool) (n int) {
	for _, e := range elements {
		if e {
			n++
		}
	}
	return n
}

func TestBoolsOfOtherBytesAreTrueBoolsWhereverElementsAreCopiedOut(t *testing.T) {
	raw := []uint8{0, 1, 2, 255, 128, 0}
	for _, layout := range []struct {
		name           string
		shape, strides []int64
		want           []bool
	}{
		{"contiguous", []int64{6}, nil, []bool{false, true, true, true, true, false}},
		{"strided", []int64{3}, []int64{2}, []bool{false, true, true}},
	} {
		v := oddBools(t, raw, layout.shape, layout.strides)
		trues := countTrue(layout.want)
		for i, want := range layout.want {
			if got, err := v.At(i); err != nil || got != want || countTrue([]bool{got}) > 1 {
				t.Errorf("%s: element %d is %v, %v", layout.name, i, got, err)
			}
		}
		contiguous, err := v.Contiguous()
		if err != nil || !slices.Equal(contiguous, layout.want) || countTrue(contiguous) != trues {
			t.Errorf("%s: Contiguous gives %v, %v", layout.name, contiguous, err)
		}
		copied := make([]bool, len(layout.want))
		if err := v.CopyTo(copied); err != nil || countTrue(copied) != trues {
			t.Errorf("%s: CopyTo gives %v, %v", layout.name, copied, err)
		}
		elements, err := v.Elements()
		if err != nil || countTrue(slices.Collect(elements)) != trues {
			t.Errorf("%s: Elements gives something else, %v", layout.name, err)
		}
	}
}

func TestMemoryWithOtherBytesIsNotHandedOutAsBools(t *testing.T) {
	v := oddBools(t, []uint8{0, 1, 7}, []int64{3}, nil)
	var odd *safe.BoolError
	if _, err := v.Data(); !errors.As(err, &odd) || odd.Index != 2 || odd.Got != 7 || !errors.Is(err, safe.ErrBool) {
		t.Errorf("Data gives %v", err)
	}
	if _, _, err := v.Span(); !errors.Is(err, safe.ErrBool) {
		t.Errorf("Span gives %v", err)
	}
	if err := v.CopyFrom([]bool{true, false, true}); err != nil {
		t.Fatal(err)
	}
	if elements, err := v.Data(); err != nil || countTrue(elements) != 2 {
		t.Errorf("Data gives %v, %v after all were written", elements, err)
	}
}
