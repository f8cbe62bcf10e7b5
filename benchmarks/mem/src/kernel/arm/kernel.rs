//! The loops in NEON assembly, one function each.
//!
//! Each turn takes 256 bytes of every array by pair loads and pair stores of 16-byte registers; `read` takes them
//! from both halves of `a` at once. "Non-temporal" is STNP: a hint that the lines will not be used again (Arm ARM,
//! C3.2.4). Whether it avoids write-allocate reads depends on the core, and many cores detect streams of regular
//! stores anyway.
#![expect(unsafe_code, reason = "assembly")]

use core::arch::asm;

use crate::kernel::isa::Isa;
use crate::kernel::name::{Kernel, Store};
use crate::kernel::pass::{Code, Operands};
use crate::kernel::prefetch::Prefetch;

pub fn find(kernel: Kernel, store: Option<Store>, isa: Isa, prefetch: Prefetch) -> Option<Code> {
    if isa != Isa::Neon || prefetch != Prefetch::None {
        return None;
    }
    Some(match (kernel, store) {
        (Kernel::Read, None) => neon::read,
        (Kernel::Write, Some(Store::Regular)) => neon::write_regular,
        (Kernel::Write, Some(Store::NonTemporal)) => neon::write_nt,
        (Kernel::Copy, Some(Store::Regular)) => neon::copy_regular,
        (Kernel::Copy, Some(Store::NonTemporal)) => neon::copy_nt,
        (Kernel::Scale, Some(Store::Regular)) => neon::scale_regular,
        (Kernel::Scale, Some(Store::NonTemporal)) => neon::scale_nt,
        (Kernel::Add, Some(Store::Regular)) => neon::add_regular,
        (Kernel::Add, Some(Store::NonTemporal)) => neon::add_nt,
        (Kernel::Triad, Some(Store::Regular)) => neon::triad_regular,
        (Kernel::Triad, Some(Store::NonTemporal)) => neon::triad_nt,
        _ => return None,
    })
}

/// One pair of vectors at an offset: x0, x1 and x2 advance through the arrays, v31 holds the scalar in both lanes.
macro_rules! pair {
    (write $store:literal $o:literal) => {
        concat!($store, " q31, q31, [x0, #", $o, "]\n")
    };
    (copy $store:literal $o:literal) => {
        concat!("ldp q0, q1, [x0, #", $o, "]\n", $store, " q0, q1, [x1, #", $o, "]\n")
    };
    (scale $store:literal $o:literal) => {
        concat!(
            "ldp q0, q1, [x0, #",
            $o,
            "]\n fmul v0.2d, v0.2d, v31.2d\n fmul v1.2d, v1.2d, v31.2d\n",
            $store,
            " q0, q1, [x1, #",
            $o,
            "]\n",
        )
    };
    (add $store:literal $o:literal) => {
        concat!(
            "ldp q0, q1, [x0, #",
            $o,
            "]\n ldp q2, q3, [x1, #",
            $o,
            "]\n",
            "fadd v0.2d, v0.2d, v2.2d\n fadd v1.2d, v1.2d, v3.2d\n",
            $store,
            " q0, q1, [x2, #",
            $o,
            "]\n",
        )
    };
    (triad $store:literal $o:literal) => {
        concat!(
            "ldp q0, q1, [x2, #",
            $o,
            "]\n ldp q2, q3, [x1, #",
            $o,
            "]\n",
            "fmul v0.2d, v0.2d, v31.2d\n fmul v1.2d, v1.2d, v31.2d\n",
            "fadd v0.2d, v2.2d, v0.2d\n fadd v1.2d, v3.2d, v1.2d\n",
            $store,
            " q0, q1, [x0, #",
            $o,
            "]\n",
        )
    };
    (read $_store:literal $o:literal) => {
        concat!(
            "ldp q0, q1, [x0, #",
            $o,
            "]\n ldp q2, q3, [x1, #",
            $o,
            "]\n",
            "eor v4.16b, v4.16b, v0.16b\n eor v5.16b, v5.16b, v1.16b\n",
            "eor v6.16b, v6.16b, v2.16b\n eor v7.16b, v7.16b, v3.16b\n",
        )
    };
}

struct Streams {
    starts: [*mut f64; 3],
    bytes: usize,
}

fn whole(on: &Operands) -> Streams {
    Streams { starts: [on.a, on.b, on.c], bytes: on.bytes }
}

fn halves(on: &Operands) -> Streams {
    let bytes = on.bytes / 2;
    Streams { starts: [0, 1, 1].map(|half| on.a.wrapping_byte_add(half * bytes)), bytes }
}

/// A function around a loop. The disassembly test finds it by its path.
macro_rules! function {
    ($name:ident, $streams:ident, $kernel:ident, $store:literal, $after:literal) => {
        #[inline(never)]
        pub(super) unsafe fn $name(on: &Operands) -> u64 {
            let Streams { starts: [a, b, c], bytes } = $streams(on);
            let fold: u64;
            // SAFETY: the caller vouches for arrays as `Operands` describes them; the loop goes from their starts to
            // their ends in whole turns.
            unsafe {
                asm!(
                    "dup v31.2d, v31.d[0]",
                    "movi v4.2d, #0", "movi v5.2d, #0", "movi v6.2d, #0", "movi v7.2d, #0",
                    ".p2align 6",
                    "2:",
                    concat!(
                        pair!($kernel $store 0), pair!($kernel $store 32), pair!($kernel $store 64),
                        pair!($kernel $store 96), pair!($kernel $store 128), pair!($kernel $store 160),
                        pair!($kernel $store 192), pair!($kernel $store 224),
                    ),
                    "add x0, x0, #256",
                    "add x1, x1, #256",
                    "add x2, x2, #256",
                    "subs x3, x3, #256",
                    "b.ne 2b",
                    $after,
                    "eor v4.16b, v4.16b, v5.16b", "eor v6.16b, v6.16b, v7.16b", "eor v4.16b, v4.16b, v6.16b",
                    "mov x0, v4.d[0]", "mov x1, v4.d[1]", "eor x0, x0, x1",
                    inout("x0") a => fold, inout("x1") b => _, inout("x2") c => _, inout("x3") bytes => _,
                    inout("v31") on.scalar => _, out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _,
                    out("v5") _, out("v6") _, out("v7") _,
                    options(nostack),
                );
            }
            fold
        }
    };
}

/// A loop with regular and one with non-temporal stores; the latter ends with a barrier that orders its stores.
macro_rules! storing {
    ($regular:ident, $nt:ident, $kernel:ident) => {
        function!($regular, whole, $kernel, "stp", "");
        function!($nt, whole, $kernel, "stnp", "dmb ishst");
    };
}

mod neon {
    use super::*;

    function!(read, halves, read, "", "");
    storing!(write_regular, write_nt, write);
    storing!(copy_regular, copy_nt, copy);
    storing!(scale_regular, scale_nt, scale);
    storing!(add_regular, add_nt, add);
    storing!(triad_regular, triad_nt, triad);
}
