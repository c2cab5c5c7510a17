package safe

// #include "view.h"
// const void *dlpackgo_view_ended;
// static void end_by(uintptr_t guard) { dlpackgo_view_ended = (const void *)guard; }
import "C"

import "unsafe"

// C fills in views under the names dlpackgo_view and dlpackgo_view_metadata, see view.h, and Go reads them where they lie: as
// AnyView, or as View or MutView when the dtype was compared with the one in it.
// The sizes below are zero as long as both are the same in memory.
var (
	cView     C.dlpackgo_view
	cMetadata C.dlpackgo_view_metadata

	_ [0]struct{} = [unsafe.Sizeof(AnyView{}) - unsafe.Sizeof(cView)]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(View[byte]{}) - unsafe.Sizeof(cView)]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(MutView[byte]{}) - unsafe.Sizeof(cView)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.data) - unsafe.Offsetof(cView.data)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.meta) - unsafe.Offsetof(cView.metadata)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(AnyView{}.axis) - unsafe.Offsetof(cView.axis)]struct{}{}

	_ [0]struct{} = [unsafe.Sizeof(metadata{}) - unsafe.Sizeof(cMetadata)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(metadata{}.byteOffset) - unsafe.Offsetof(cMetadata.byte_offset)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(metadata{}.shape) - unsafe.Offsetof(cMetadata.shape)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(metadata{}.strides) - unsafe.Offsetof(cMetadata.strides)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(metadata{}.device) - unsafe.Offsetof(cMetadata.device)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(metadata{}.dtype) - unsafe.Offsetof(cMetadata.dtype)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(metadata{}.traits) - unsafe.Offsetof(cMetadata.flags)]struct{}{}
	_ [0]struct{} = [lentForCall - C.DLPACKGO_LENT_FOR_CALL]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(metadata{}.guard) - unsafe.Offsetof(cMetadata.guard)]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(metadata{}.generation) - unsafe.Offsetof(cMetadata.generation)]struct{}{}
)

// ended is the guard of views that C has borrowed and ended again.
var ended guard

func init() {
	ended.held = new(held)
	ended.advance()
	C.end_by(C.uintptr_t(uintptr(unsafe.Pointer(&ended)))) // as a number: C never looks at what is there
}
