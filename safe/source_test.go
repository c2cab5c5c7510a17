package safe

import "testing"

func requireAsView[S AsDLTensor](t *testing.T, src S) {
	t.Helper()
	if asView(&src) == nil {
		t.Errorf("a %T is copied to be lent", src)
	}
}

func requireViewsAsViews[T Element](t *testing.T) {
	t.Helper()
	requireAsView(t, View[T]{})
	requireAsView(t, MutView[T]{})
}

func TestOwnTypesAreLentWithoutACopy(t *testing.T) {
	requireAsView(t, AnyView{})
	requireAsView(t, &Tensor{})
	requireViewsAsViews[bool](t)
	requireViewsAsViews[int8](t)
	requireViewsAsViews[int16](t)
	requireViewsAsViews[int32](t)
	requireViewsAsViews[int64](t)
	requireViewsAsViews[int](t)
	requireViewsAsViews[uint8](t)
	requireViewsAsViews[uint16](t)
	requireViewsAsViews[uint32](t)
	requireViewsAsViews[uint64](t)
	requireViewsAsViews[uint](t)
	requireViewsAsViews[Float16](t)
	requireViewsAsViews[BFloat16](t)
	requireViewsAsViews[float32](t)
	requireViewsAsViews[float64](t)
	requireViewsAsViews[complex64](t)
	requireViewsAsViews[complex128](t)
}
