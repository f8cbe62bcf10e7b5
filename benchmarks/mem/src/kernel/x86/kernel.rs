//! The loops in SSE2, AVX2 and AVX-512 assembly, with and without software prefetch, one function each.
#![expect(unsafe_code, reason = "assembly")]

use core::arch::asm;

use crate::kernel::isa::Isa;
use crate::kernel::name::{Kernel, Store};
use crate::kernel::pass::{Code, Operands};
use crate::kernel::prefetch::Prefetch;

pub fn find(kernel: Kernel, store: Option<Store>, isa: Isa, prefetch: Prefetch) -> Option<Code> {
    match isa {
        Isa::Sse2 => sse2::find(kernel, store, prefetch),
        Isa::Avx2 => avx2::find(kernel, store, prefetch),
        Isa::Avx512 => avx512::find(kernel, store, prefetch),
        Isa::Neon => None,
    }
}

struct Streams {
    ends: [*mut f64; 3],
    bytes: usize,
}

fn whole(on: &Operands) -> Streams {
    Streams { ends: [on.a, on.b, on.c].map(|start| start.wrapping_byte_add(on.bytes)), bytes: on.bytes }
}

fn halves(on: &Operands) -> Streams {
    let bytes = on.bytes / 2;
    Streams { ends: [1, 2, 2].map(|halves| on.a.wrapping_byte_add(halves * bytes)), bytes }
}

/// A function around a loop. The disassembly test finds it by its path: instruction set, prefetch, kernel.
macro_rules! function {
    ($name:ident, $feature:literal, $streams:ident, $before:expr, [$($turn:expr),+], $after:expr) => {
        #[inline(never)]
        #[target_feature(enable = $feature)]
        unsafe fn $name(on: &Operands) -> u64 {
            let Streams { ends: [a, b, c], bytes } = $streams(on);
            let mut rax = bytes.wrapping_neg();
            // SAFETY: the caller vouches for arrays as `Operands` describes them; the loop goes from their starts to
            // their ends in whole turns. What it prefetches beyond is a hint that never faults.
            unsafe {
                asm!(
                    $before,
                    ".p2align 6",
                    "2:",
                    $($turn,)+
                    concat!("add rax, ", turn!()),
                    "jnz 2b",
                    $after,
                    inout("rax") rax, in("rsi") a, in("rdx") b, in("rcx") c, inout("xmm0") on.scalar => _,
                    out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _,
                    out("xmm7") _, out("xmm15") _,
                    options(nostack),
                );
            }
            rax as u64
        }
    };
}

macro_rules! loading {
    ($hint:ident, $feature:literal, $v:ident, $regular:literal, $nt:literal) => {
        mod $hint {
            use super::*;

            function!(read, $feature, halves, clear!($v), [ahead!($hint a), ahead!($hint b), read!($v)], fold!($v));
            storing!(copy_regular, copy_nt, copy, $feature, $v, $regular, $nt, [ahead!($hint a)]);
            storing!(scale_regular, scale_nt, scale, $feature, $v, $regular, $nt, [ahead!($hint a)]);
            storing!(add_regular, add_nt, add, $feature, $v, $regular, $nt, [ahead!($hint a), ahead!($hint b)]);
            storing!(triad_regular, triad_nt, triad, $feature, $v, $regular, $nt, [ahead!($hint b), ahead!($hint c)]);

            pub(super) fn find(kernel: Kernel, store: Option<Store>) -> Option<Code> {
                Some(match (kernel, store) {
                    (Kernel::Read, None) => read,
                    (Kernel::Copy, Some(Store::Regular)) => copy_regular,
                    (Kernel::Copy, Some(Store::NonTemporal)) => copy_nt,
                    (Kernel::Scale, Some(Store::Regular)) => scale_regular,
                    (Kernel::Scale, Some(Store::NonTemporal)) => scale_nt,
                    (Kernel::Add, Some(Store::Regular)) => add_regular,
                    (Kernel::Add, Some(Store::NonTemporal)) => add_nt,
                    (Kernel::Triad, Some(Store::Regular)) => triad_regular,
                    (Kernel::Triad, Some(Store::NonTemporal)) => triad_nt,
                    _ => return None,
                })
            }
        }
    };
}

/// A loop with regular and one with non-temporal stores. The latter ends with the one fence that orders its stores
/// like any other (and waits until the last are issued).
macro_rules! storing {
    ($regular:ident, $nt:ident, $kernel:ident, $feature:literal, $v:ident, $store:literal, $stream:literal, [$($ahead:expr),*]) => {
        function!($regular, $feature, whole, spread!($v), [$($ahead,)* stream!($v $kernel $store)], leave!($v));
        function!(
            $nt, $feature, whole, spread!($v), [$($ahead,)* stream!($v $kernel $stream)], concat!("sfence\n", leave!($v))
        );
    };
}

macro_rules! loops {
    ($isa:ident, $feature:literal, $v:ident, $regular:literal, $nt:literal) => {
        mod $isa {
            use super::*;

            storing!(write_regular, write_nt, write, $feature, $v, $regular, $nt, []);
            loading!(plain, $feature, $v, $regular, $nt);
            loading!(nta, $feature, $v, $regular, $nt);
            loading!(l2, $feature, $v, $regular, $nt);

            pub(super) fn find(kernel: Kernel, store: Option<Store>, prefetch: Prefetch) -> Option<Code> {
                match (kernel, store, prefetch) {
                    (Kernel::Write, Some(Store::Regular), Prefetch::None) => Some(write_regular),
                    (Kernel::Write, Some(Store::NonTemporal), Prefetch::None) => Some(write_nt),
                    (_, _, Prefetch::None) => plain::find(kernel, store),
                    (_, _, Prefetch::Nta) => nta::find(kernel, store),
                    (_, _, Prefetch::L2) => l2::find(kernel, store),
                }
            }
        }
    };
}

loops!(sse2, "sse2", xmm, "movapd", "movntpd");
loops!(avx2, "avx2", ymm, "vmovapd", "vmovntpd");
loops!(avx512, "avx512f", zmm, "vmovapd", "vmovntpd");
