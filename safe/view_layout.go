package safe

// #include "view.h"
import "C"

import "unsafe"

// C fills in views under the name dlpackgo_view, and Go reads them where they lie: see view.h. The sizes below are zero as
// long as both are the same in memory.
var (
	cView C.dlpackgo_view

	_ [0]struct{} = [unsafe.Sizeof(AnyView{}) - unsafe.Sizeof(cView)]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(View[byte]{}) - unsafe.Sizeof(cView)]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(MutView[byte]{}) - unsafe.Sizeof(cView)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.data) - unsafe.Offsetof(cView.data)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.byteOffset) - unsafe.Offsetof(cView.byte_offset)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.shape) - unsafe.Offsetof(cView.shape)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.strides) - unsafe.Offsetof(cView.strides)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.device) - unsafe.Offsetof(cView.device)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.dtype) - unsafe.Offsetof(cView.dtype)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.traits) - unsafe.Offsetof(cView.flags)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.guard) - unsafe.Offsetof(cView.guard)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.generation) - unsafe.Offsetof(cView.generation)]struct{}{}
)

// BorrowFromC returns the view that C has filled in at view, a dlpackgo_view. V is AnyView, or a View or MutView whose
// dtype was compared with the one in it. The memory of shape, strides and elements has to outlive the view.
func BorrowFromC[V any](view unsafe.Pointer) V { return *(*V)(view) }
