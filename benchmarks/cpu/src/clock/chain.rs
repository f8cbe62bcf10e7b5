//! The chains of this architecture: their cycles, and their expected results.
//!
//! A dependent addition of two registers takes exactly one cycle on every x86-64 and 64-bit Arm core so far (A. Fog,
//! "Instruction tables"; uops.info; Arm's software optimization guides, "Arithmetic, basic"). Additions of small
//! constants may be faster: Intel's cores since Golden Cove (Alder Lake, Sapphire Rapids) do several per cycle during
//! register renaming (T. Barnes, "The Alder Lake anomaly, explained", tavianator.com, 2025, after A. Abel, 2021).
//!
//! A future core may do the same with registers, so a second chain of another kind checks the first:
//!
//! - x86-64: multiplications of 32-bit registers, three cycles each since Nehalem, Silvermont and Bulldozer or older
//!   (the same tables);
//! - 64-bit Arm, where a multiplication takes two to five cycles: exclusive ors and additions in turn, one cycle each
//!   ("Logical, basic").

use std::hint::black_box;

use super::kernel::{Code, LINKS, Operands};

/// Operands of all chains: constants without a pattern, from the golden ratio and pi.
const OPERANDS: Operands =
    Operands { start: 0x0123_4567_89ab_cdef, step: 0x9e37_79b9_7f4a_7c15, factor: 0x243f_6a88_85a3_08d3 };

/// Approximate cycles of a block: a quarter of a millisecond at 4 GHz. Short, so that most blocks are not
/// interrupted; long compared with reading the clock.
const BLOCK_CYCLES: u64 = 1 << 20;

#[derive(Clone, Debug)]
pub struct Chain {
    code: Code,
    turns: u64,
    cycles_a_link: u64,
    expected: u64,
}

#[derive(Clone, Debug)]
pub struct Chains {
    pub add: Chain,
    pub check: Chain,
}

impl Chains {
    /// The chains of this architecture, with blocks of `scale` times the usual length; `None` without chains.
    pub fn new(scale: u64) -> Option<Self> {
        let [add, check] = CODES?;
        Some(Self { add: Chain::new(&add, scale), check: Chain::new(&check, scale) })
    }
}

/// A chain's code, the cycles of a link, and a model of link number `n`.
#[derive(Clone, Copy)]
struct Described {
    code: Code,
    cycles_a_link: u64,
    link: fn(n: u64, value: u64, on: &Operands) -> u64,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const ADD: Described = Described {
    code: super::kernel::add,
    cycles_a_link: 1,
    link: |_, value, on| value.wrapping_add(on.step),
};

#[cfg(target_arch = "x86_64")]
const CODES: Option<[Described; 2]> = Some([
    ADD,
    Described {
        code: super::kernel::multiply,
        cycles_a_link: 3,
        link: |_, value, on| u64::from((value as u32).wrapping_mul(on.factor as u32)),
    },
]);

#[cfg(target_arch = "aarch64")]
const CODES: Option<[Described; 2]> = Some([
    ADD,
    Described {
        code: super::kernel::xor_add,
        cycles_a_link: 1,
        link: |n, value, on| {
            if n.is_multiple_of(2) { value ^ on.factor } else { value.wrapping_add(on.step) }
        },
    },
]);

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CODES: Option<[Described; 2]> = None;

impl Chain {
    fn new(described: &Described, scale: u64) -> Self {
        let Described { code, cycles_a_link, link } = *described;
        let turns = scale.max(1) * BLOCK_CYCLES / (LINKS * cycles_a_link);
        let expected = (0..turns * LINKS).fold(OPERANDS.start, |value, n| link(n, value, &OPERANDS));
        Self { code, turns, cycles_a_link, expected }
    }

    pub fn run(&self) -> u64 {
        (self.code)(self.turns, black_box(&OPERANDS))
    }

    pub fn cycles(&self) -> u64 {
        self.turns * LINKS * self.cycles_a_link
    }

    pub fn expected(&self) -> u64 {
        self.expected
    }

    #[cfg(test)]
    pub fn spoiled(mut self) -> Self {
        self.expected ^= 1 << 17;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_to_what_the_same_steps_come_to_one_by_one() {
        for scale in [1, 3] {
            let chains = Chains::new(scale).expect("an architecture with chains");
            assert_eq!(chains.add.run(), chains.add.expected());
            assert_eq!(chains.check.run(), chains.check.expected());
            assert_eq!(chains.add.cycles(), scale * BLOCK_CYCLES);
            let short = scale * BLOCK_CYCLES - chains.check.cycles();
            assert!(short < LINKS * chains.check.cycles_a_link, "{short} cycles are missing");
        }
    }

    #[test]
    fn one_turn_more_or_less_comes_to_something_else() {
        let Chains { add, check } = Chains::new(1).expect("an architecture with chains");
        for chain in [add, check] {
            for turns in [chain.turns - 1, chain.turns + 1] {
                assert_ne!(Chain { turns, ..chain.clone() }.run(), chain.expected());
            }
        }
    }
}
