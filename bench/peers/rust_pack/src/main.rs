//! What packing a tensor of rank 4 and dropping the result costs in Rust, printed as `go test -bench` prints its own figures, so
//! that both go through benchstat together:
//!
//!     cargo run --release; go test -run '^$' -bench 'Memory/pack' -benchtime 3000x -count 60 ./safe
//!
//! Fairness: the memory stays where it is in all three, and only its description and its share of an owner are made and
//! dropped. Go pays a call to C for the dropping, which Rust does not; "pack, delete in C" is without it, as where C drops.

use std::ffi::c_void;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use dlpack_rs::safe;
use dlpark::ffi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Fixed;
use dlpark::{Managed, ManagedTensorBase};

const SHAPE: [i64; 4] = [2, 3, 4, 5];
const STRIDES: [i64; 4] = [60, 20, 5, 1];

/// Prints many short runs: the least of them is what the work costs when nothing comes in between.
fn report(name: &str, mut work: impl FnMut()) {
    const COUNT: u32 = 3000;
    for _ in 0..60 {
        let start = Instant::now();
        for _ in 0..COUNT {
            work();
        }
        let each = start.elapsed().as_nanos() as f64 / f64::from(COUNT);
        println!("BenchmarkRust/{name} \t{COUNT}\t{each:.1} ns/op");
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
