//! The page kinds of a mapping.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pages {
    /// The kernel's base pages (4 KiB on x86-64), huge pages forbidden even where the system's default is `always`.
    Base,
    /// Base pages with `MADV_HUGEPAGE`. [`Mapping::residency`](super::Mapping::residency) tells how many became huge.
    Transparent,
    /// hugetlb pages of 2 MiB from the administrator's pool.
    Explicit2M,
    /// hugetlb pages of 1 GiB from the administrator's pool.
    Explicit1G,
}

impl Pages {
    pub const LARGEST_FIRST: [Self; 4] = [Self::Explicit1G, Self::Explicit2M, Self::Transparent, Self::Base];

    /// Size of a hugetlb page in bytes; `None` for other kinds.
    pub const fn explicit_bytes(self) -> Option<usize> {
        match self {
            Self::Explicit2M => Some(2 << 20),
            Self::Explicit1G => Some(1 << 30),
            Self::Base | Self::Transparent => None,
        }
    }

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
