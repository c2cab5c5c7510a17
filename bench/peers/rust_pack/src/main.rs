//! What packing a tensor of rank 4 and dropping the result costs in Rust, printed as `go test -bench` prints its own figures, so
//! that both go through benchstat together:
//!
//!     cargo run --release; go test -bench 'Memory/pack' ./safe
//!
//! Fairness: the memory stays where it is in all three, and only its description and its share of an owner are made and
//! dropped. Go pays one call to C each for the two, which Rust does not.

use std::ffi::c_void;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dlpack_rs::safe;
use dlpark::ffi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Fixed;
use dlpark::{Managed, ManagedTensorBase};

const SHAPE: [i64; 4] = [2, 3, 4, 5];
const STRIDES: [i64; 4] = [60, 20, 5, 1];

fn report(name: &str, mut work: impl FnMut()) {
    let mut count = 1_u32;
    loop {
        let start = Instant::now();
        for _ in 0..count {
            work();
        }
        let elapsed = start.elapsed();
        if elapsed > Duration::from_millis(500) {
            let each = elapsed.as_nanos() as f64 / f64::from(count);
            println!("BenchmarkRust/{name} \t{count}\t{each:.1} ns/op");
            return;
        }
        count *= 2;
    }
}

fn dlpark_pack<M: ManagedTensorBase>(data: &Arc<Vec<f32>>) -> Managed<M> {
    let pointer = data.as_ptr() as *mut c_void;
    let mut initialized = Fixed::new(SHAPE, STRIDES).initialize_as::<M>(Arc::clone(data)).expect("a sound shape");
    initialized.set_data(pointer).set_dtype(DLDataType::F32).set_device(DLDevice::CPU);
    // SAFETY: the pointer belongs to the Arc that was just handed over, and is as long as the shape says.
    unsafe { initialized.finish() }
}

fn dlpack_rs_info(data: &Arc<Vec<f32>>) -> safe::TensorInfo {
    let pointer = data.as_ptr() as *mut c_void;
    safe::TensorInfo::strided(pointer, safe::cpu_device(), safe::dtype_f32(), SHAPE.to_vec(), STRIDES.to_vec())
}

fn main() {
    let data = Arc::new(vec![0_f32; 120]);
    report("dlpark_pack,_drop", || drop(black_box(dlpark_pack::<DLManagedTensor>(&data))));
    report("dlpark_pack_versioned,_drop", || drop(black_box(dlpark_pack::<DLManagedTensorVersioned>(&data))));
    report("dlpack-rs_pack,_drop", || {
        let managed = black_box(safe::pack(Arc::clone(&data), dlpack_rs_info(&data)));
        // SAFETY: it was just packed, and nothing else has it.
        unsafe { (*managed).deleter.expect("pack sets a deleter")(managed) }
    });
    report("dlpack-rs_pack_versioned,_drop", || {
        let managed = black_box(safe::pack_versioned(Arc::clone(&data), dlpack_rs_info(&data), 0));
        // SAFETY: it was just packed, and nothing else has it.
        unsafe { (*managed).deleter.expect("pack_versioned sets a deleter")(managed) }
    });
}
