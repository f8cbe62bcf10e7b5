//! The chains in assembly: instructions each of which needs the result of the one before.
#![expect(unsafe_code, reason = "assembly")]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use core::arch::asm;

/// What a chain works with, in memory: the loops load it themselves, so that no value is known when they are compiled
/// and none sits in the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// The value the chain starts from.
    pub start: u64,
    pub step: u64,
    /// What is multiplied by or xored with; odd, so that a product loses nothing.
    pub factor: u64,
}

/// Instructions of the chain in one turn of its loop. The counting and the branch depend on nothing in the chain and
/// are done beside it.
pub const LINKS: u64 = 64;

/// A loop around a chain: `turns` times [`LINKS`] of it. At least one turn is made.
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
