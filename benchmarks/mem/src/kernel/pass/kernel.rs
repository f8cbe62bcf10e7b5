//! The boundary to the unsafe loops: selects the code and calls it.
#![expect(unsafe_code, reason = "calls assembly and the C library on raw pointers")]

use std::ffi::{c_int, c_void};

use crate::kernel::arrays::Arrays;
use crate::kernel::isa::Isa;
use crate::kernel::name::{Kernel, Store};
use crate::kernel::pattern::MEMSET_BYTE;
use crate::kernel::prefetch::Prefetch;

#[cfg(target_arch = "aarch64")]
use crate::kernel::arm as native;
#[cfg(target_arch = "x86_64")]
use crate::kernel::x86 as native;

/// Arguments of a loop: the arrays of its kernel are valid for `bytes`, aligned to 64 and disjoint.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    pub a: *mut f64,
    pub b: *mut f64,
    pub c: *mut f64,
    /// Length of each array; a multiple of 512 above zero.
    pub bytes: usize,
    /// Factor of `scale` and `triad`, value of `write`.
    pub scalar: f64,
}

/// A loop. The caller guarantees the instruction set and the operands.
pub type Code = unsafe fn(&Operands) -> u64;

#[derive(Clone, Copy, Debug)]
pub struct Loop(Code);

impl Loop {
    pub fn find(kernel: Kernel, store: Option<Store>, isa: Isa, prefetch: Prefetch) -> Option<Self> {
        match (kernel, prefetch) {
            (Kernel::Memcpy, Prefetch::None) => Some(Self(libc_memcpy)),
            (Kernel::Memset, Prefetch::None) => Some(Self(libc_memset)),
            _ if isa.is_available() => native::find(kernel, store, isa, prefetch).map(Self),
            _ => None,
        }
    }

    pub fn run(self, arrays: &mut Arrays<'_>, scalar: f64) -> u64 {
        let operands = Operands {
            a: arrays.a.as_mut_ptr(),
            b: arrays.b.as_mut_ptr(),
            c: arrays.c.as_mut_ptr(),
            bytes: size_of_val(arrays.a),
            scalar,
        };
        // SAFETY: `find` handed out the code because this CPU has its instruction set. `Pass::run`, the only caller,
        // checked length and alignment of every array that the kernel uses; they are exclusive borrows, so apart.
        unsafe { (self.0)(&operands) }
    }
}

unsafe extern "C" {
    fn memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void;
}

#[inline(never)]
unsafe fn libc_memcpy(on: &Operands) -> u64 {
    // SAFETY: the caller vouches for both arrays.
    unsafe { memcpy(on.b.cast(), on.a.cast(), on.bytes) };
    0
}

#[inline(never)]
unsafe fn libc_memset(on: &Operands) -> u64 {
    // SAFETY: the caller vouches for the array; any bytes are a valid `f64`.
    unsafe { memset(on.a.cast(), c_int::from(MEMSET_BYTE), on.bytes) };
    0
}
