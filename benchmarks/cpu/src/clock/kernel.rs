//! The chains in assembly: each instruction depends on the result of the one before.
#![expect(unsafe_code, reason = "assembly")]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use core::arch::asm;

/// Operands in memory: the loops load them, so that no value is known at compile time or part of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    pub start: u64,
    pub step: u64,
    /// Factor of products and exclusive ors; odd, so that a product loses no bits.
    pub factor: u64,
}

/// Chain instructions per loop turn. Counter and branch do not depend on the chain and run in parallel.
pub const LINKS: u64 = 64;

/// A loop of `turns` (at least one) times [`LINKS`] chain instructions.
pub type Code = fn(turns: u64, on: &Operands) -> u64;

#[cfg(target_arch = "x86_64")]
macro_rules! chain {
    ($name:ident, $operand:ident, $load:literal, $link:literal) => {
        #[inline(never)]
        pub fn $name(turns: u64, on: &Operands) -> u64 {
            let Operands { mut start, .. } = *on;
            // SAFETY: reads eight bytes of a reference that lives through the call, and no other memory.
            unsafe {
                asm!(
                    $load,
                    ".p2align 6",
                    "2:",
                    ".rept 64",
                    $link,
                    ".endr",
                    "dec {turns}",
                    "jnz 2b",
                    operand = out(reg) _,
                    place = in(reg) &raw const on.$operand,
                    value = inout(reg) start,
                    turns = inout(reg) turns.max(1) => _,
                    options(nostack, readonly),
                );
            }
            start
        }
    };
}

#[cfg(target_arch = "x86_64")]
chain!(add, step, "mov {operand}, qword ptr [{place}]", "add {value}, {operand}");
#[cfg(target_arch = "x86_64")]
chain!(multiply, factor, "mov {operand:e}, dword ptr [{place}]", "imul {value:e}, {operand:e}");

#[cfg(target_arch = "aarch64")]
macro_rules! chain {
    ($name:ident, $($pair:literal),+) => {
        #[inline(never)]
        pub fn $name(turns: u64, on: &Operands) -> u64 {
            let Operands { mut start, .. } = *on;
            // SAFETY: reads twice eight bytes of references that live through the call, and no other memory.
            unsafe {
                asm!(
                    "ldr {step}, [{place}]",
                    "ldr {factor}, [{second}]",
                    ".p2align 6",
                    "2:",
                    ".rept 32",
                    $($pair,)+
                    ".endr",
                    "subs {turns}, {turns}, #1",
                    "b.ne 2b",
                    step = out(reg) _,
                    factor = out(reg) _,
                    place = in(reg) &raw const on.step,
                    second = in(reg) &raw const on.factor,
                    value = inout(reg) start,
                    turns = inout(reg) turns.max(1) => _,
                    options(nostack, readonly),
                );
            }
            start
        }
    };
}

#[cfg(target_arch = "aarch64")]
chain!(add, "add {value}, {value}, {step}", "add {value}, {value}, {step}");
#[cfg(target_arch = "aarch64")]
chain!(xor_add, "eor {value}, {value}, {factor}", "add {value}, {value}, {step}");
