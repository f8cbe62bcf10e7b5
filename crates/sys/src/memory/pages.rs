//! The kinds of pages a mapping can be made of.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pages {
    /// The kernel's base pages (4 KiB on x86-64), huge ones forbidden even where the system's default is `always`.
    Base,
    /// Base pages that the kernel is asked to merge into huge ones (`MADV_HUGEPAGE`). How many really are is for
    /// [`Mapping::residency`](super::Mapping::residency) to tell.
    Transparent,
    /// Explicit pages of 2 MiB from the administrator's pool.
    Explicit2M,
    /// Explicit pages of 1 GiB from the administrator's pool.
    Explicit1G,
}

impl Pages {
    /// From the largest pages to the smallest: what a bandwidth test tries in turn.
    pub const LARGEST_FIRST: [Self; 4] = [Self::Explicit1G, Self::Explicit2M, Self::Transparent, Self::Base];

    /// Size of one explicit page in bytes; none for pages that are not from a pool.
    pub const fn explicit_bytes(self) -> Option<usize> {
        match self {
            Self::Explicit2M => Some(2 << 20),
            Self::Explicit1G => Some(1 << 30),
            Self::Base | Self::Transparent => None,
        }
    }

    /// The name used in parameters and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Transparent => "transparent",
            Self::Explicit2M => "2MiB",
            Self::Explicit1G => "1GiB",
        }
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
