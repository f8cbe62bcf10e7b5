//! Instruction sets of the loops, and which of them this CPU has.

use std::fmt;
use std::str::FromStr;

use super::name::UnknownName;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// 16-byte vectors; every x86-64 has them.
    Sse2,
    /// 16-byte vectors and pair loads and stores; every AArch64 has them.
    Neon,
    Avx2,
    /// 64-byte vectors, a whole cache line; AVX-512F is enough.
    Avx512,
}

impl Isa {
    pub const ALL: &'static [Self] = &[Self::Sse2, Self::Neon, Self::Avx2, Self::Avx512];

    /// The instruction sets that CPU and operating system support, widest last.
    pub fn available() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|isa| isa.is_available()).collect()
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Sse2 => "sse2",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The required CPU feature, as Rust and the inventory spell it.
    pub const fn feature(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512f",
            other => other.name(),
        }
    }

    #[cfg(target_arch = "x86_64")]
    pub fn is_available(self) -> bool {
        match self {
            Self::Sse2 => true,
            Self::Neon => false,
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            Self::Avx512 => std::arch::is_x86_feature_detected!("avx512f"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub fn is_available(self) -> bool {
        cfg!(target_arch = "aarch64") && self == Self::Neon
    }
}

impl FromStr for Isa {
    type Err = UnknownName;

    fn from_str(word: &str) -> Result<Self, UnknownName> {
        UnknownName::find("instruction set", Self::ALL, Self::name, word)
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_has_the_baseline_of_its_architecture_and_none_of_another() {
        let available = Isa::available();
        let baseline = if cfg!(target_arch = "x86_64") { Isa::Sse2 } else { Isa::Neon };
        let foreign = if cfg!(target_arch = "x86_64") { Isa::Neon } else { Isa::Sse2 };
        assert!(available.contains(&baseline));
        assert!(!available.contains(&foreign));
    }

    #[test]
    fn names_are_read_back() {
        for isa in Isa::ALL {
            assert_eq!(isa.to_string().parse(), Ok(*isa));
        }
    }
}
