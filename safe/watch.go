package safe

import (
	"runtime"
	"unsafe"
)

// Watch is for debugging. It makes views that C has filled in, such as the arguments of a call, end for good with that call:
// what describes them lies in a frame of C, which the next call uses again, where a view that is kept for longer finds
// anything at all. With a watch it is a copy in memory of Go, which knows whether the call has ended.
type Watch struct {
	scope   *Scope
	pinner  runtime.Pinner
	watched []watchedView
}

// watchedView is a view in memory of C, and the metadata that C gave it.
type watchedView struct {
	view *AnyView
	inC  *metadata
}

// NewWatch returns a watch over no views.
func NewWatch() (*Watch, error) {
	scope, err := NewScope()
	if err != nil {
		return nil, err
	}
	return &Watch{scope: scope}, nil
}

// Over takes over the view that C has filled in at view, a dlpackgo_view. What Go reads there from now on, an AnyView, is good
// until the watch ends, and a ReleasedError after that. Nil, a view of nothing, and all views of a watch that NewWatch did
// not make are left as they are.
func (w *Watch) Over(view unsafe.Pointer) {
	v := (*AnyView)(view)
	if w == nil || w.scope == nil || v == nil || v.meta == nil {
		return
	}
	w.watched = append(w.watched, watchedView{v, v.meta})
	inGo := v.like(v.shape(), v.strides()).meta
	inGo.guard, inGo.generation = w.scope.guard, w.scope.guard.generation.Load()
	w.pinner.Pin(inGo)
	putAddress(&v.meta, unsafe.Pointer(inGo))
}

// End ends the views, and gives C back what it had filled in.
func (w *Watch) End() {
	if w == nil {
		return
	}
	for _, watched := range w.watched {
		putAddress(&watched.view.meta, unsafe.Pointer(watched.inC))
	}
	w.scope.End()
	w.pinner.Unpin()
}
