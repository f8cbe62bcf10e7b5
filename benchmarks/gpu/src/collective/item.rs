//! Types of the elements that are sent and added up.

use seatrial_model::{Cause, Params, Reason};
use seatrial_sys::gpu::nccl::NcclType;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemType {
    Fp32,
    Bf16,
    Fp16,
    Fp64,
    Int32,
}

/// As the parameter `type` spells them.
pub const TYPES: &[&str] = &["fp32", "bf16", "fp16", "fp64", "int32"];

/// In the order of [`TYPES`].
const ALL: [ItemType; 5] = [ItemType::Fp32, ItemType::Bf16, ItemType::Fp16, ItemType::Fp64, ItemType::Int32];

/// The elements are numbers below this one, or below a smaller one where sums of a type would not be exact.
const MODULUS: u64 = 61;

impl ItemType {
    pub fn of(params: &Params) -> Result<Self, Reason> {
        let word = params.text("type")?;
        let at = TYPES.iter().position(|name| *name == word);
        at.map(|at| ALL[at])
            .ok_or_else(|| Reason::new(Cause::Protocol, format!("type={word} does not exist")))
    }

    pub const fn nccl(self) -> NcclType {
        match self {
            Self::Fp32 => NcclType::Fp32,
            Self::Bf16 => NcclType::Bf16,
            Self::Fp16 => NcclType::Fp16,
            Self::Fp64 => NcclType::Fp64,
            Self::Int32 => NcclType::Int32,
        }
    }

    pub const fn bytes(self) -> u64 {
        self.nccl().bytes() as u64
    }

    pub fn name(self) -> &'static str {
        ALL.iter().position(|one| *one == self).map_or("", |at| TYPES[at])
    }

    /// Whole numbers up to this one are exact.
    const fn exact(self) -> u64 {
        match self {
            Self::Bf16 => 1 << 8,
            Self::Fp16 => 1 << 11,
            Self::Fp32 => 1 << 24,
            Self::Int32 => 1 << 31,
            Self::Fp64 => 1 << 53,
        }
    }

    /// All elements are below this number, so that their sums over all ranks are exact in any order.
    pub fn modulus(self, ranks: usize) -> Result<u64, Reason> {
        let most = (self.exact() / ranks.max(1) as u64).min(MODULUS);
        if most < 2 {
            let text = format!("type={}: sums over {ranks} ranks are not exact; -p type=fp32", self.name());
            return Err(Reason::new(Cause::Contradiction, text));
        }
        Ok(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_all_ranks_stay_exact() {
        assert_eq!(ItemType::Fp32.modulus(8), Ok(61));
        assert_eq!(ItemType::Bf16.modulus(8), Ok(32));
        assert_eq!(ItemType::Bf16.modulus(128), Ok(2));
        assert_eq!(ItemType::Bf16.modulus(129).expect_err("not exact").cause, Cause::Contradiction);
        let names = ALL.map(ItemType::name);
        assert_eq!(names, TYPES);
    }
}
