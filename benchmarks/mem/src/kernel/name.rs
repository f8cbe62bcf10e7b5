//! Kernels and kinds of stores: names, counted bytes, bus traffic.

use std::fmt;
use std::str::FromStr;

/// What a loop does with its arrays. No loop writes an array that it reads, so any number of passes leaves the same
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Folds `a[i]`.
    Read,
    /// `a[i] = s`.
    Write,
    /// `b[i] = a[i]`.
    Copy,
    /// `b[i] = s * a[i]`.
    Scale,
    /// `c[i] = a[i] + b[i]`.
    Add,
    /// `a[i] = b[i] + s * c[i]`.
    Triad,
    /// `memcpy(b, a)` of the C library.
    Memcpy,
    /// `memset(a)` of the C library.
    Memset,
}

impl Kernel {
    pub const ALL: &'static [Self] = &[
        Self::Read,
        Self::Write,
        Self::Copy,
        Self::Scale,
        Self::Add,
        Self::Triad,
        Self::Memcpy,
        Self::Memset,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Scale => "scale",
            Self::Add => "add",
            Self::Triad => "triad",
            Self::Memcpy => "memcpy",
            Self::Memset => "memset",
        }
    }

    pub const fn arrays(self) -> usize {
        match self {
            Self::Read | Self::Write | Self::Memset => 1,
            Self::Copy | Self::Scale | Self::Memcpy => 2,
            Self::Add | Self::Triad => 3,
        }
    }

    /// Counted bytes per index: 8 for every array, as in STREAM (McCalpin 1995).
    pub const fn counted_bytes_per_element(self) -> usize {
        self.arrays() * size_of::<f64>()
    }

    pub const fn has_store_choice(self) -> bool {
        matches!(self, Self::Write | Self::Copy | Self::Scale | Self::Add | Self::Triad)
    }

    /// Whether [`Pass::run`](super::Pass::run) returns a fold that must equal [`Kernel::expected_fold`].
    pub const fn folds(self) -> bool {
        matches!(self, Self::Read)
    }

    /// Estimated bytes on the memory bus per counted byte; `None` where the C library chooses the stores. A regular
    /// store to an uncached line first reads it (write-allocate): 8 more bytes per element written (G. Hager and G.
    /// Wellein, *Introduction to High Performance Computing for Scientists and Engineers*, section 1.3.2). This is an
    /// upper bound where the CPU avoids that read for full-line stores, as Intel's server cores since Ice Lake and
    /// many Arm cores do at times.
    pub fn traffic_factor(self, store: Option<Store>) -> Option<f64> {
        match (self, store) {
            (Self::Memcpy | Self::Memset, _) => None,
            (Self::Read, _) | (_, Some(Store::NonTemporal)) => Some(1.0),
            (_, Some(Store::Regular)) => Some(1.0 + 1.0 / self.arrays() as f64),
            (_, None) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    Regular,
    /// Whole lines that bypass the caches, where the instruction set offers it.
    NonTemporal,
}

impl Store {
    pub const ALL: &'static [Self] = &[Self::Regular, Self::NonTemporal];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::NonTemporal => "nt",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{word}' is not a {what}; known are: {known}")]
pub struct UnknownName {
    what: &'static str,
    word: String,
    known: String,
}

impl UnknownName {
    pub(super) fn find<T: Copy>(
        what: &'static str,
        all: &[T],
        name: impl Fn(T) -> &'static str,
        word: &str,
    ) -> Result<T, Self> {
        all.iter().copied().find(|one| name(*one) == word).ok_or_else(|| Self {
            what,
            word: word.to_owned(),
            known: all.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", "),
        })
    }
}

impl FromStr for Kernel {
    type Err = UnknownName;

    fn from_str(word: &str) -> Result<Self, UnknownName> {
        UnknownName::find("kernel", Self::ALL, Self::name, word)
    }
}

impl FromStr for Store {
    type Err = UnknownName;

    fn from_str(word: &str) -> Result<Self, UnknownName> {
        UnknownName::find("kind of store", Self::ALL, Self::name, word)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kernel in Kernel::ALL {
            assert_eq!(kernel.to_string().parse(), Ok(*kernel));
        }
        for store in Store::ALL {
            assert_eq!(store.to_string().parse(), Ok(*store));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "trias".parse::<Kernel>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "'trias' is not a kernel; known are: read, write, copy, scale, add, triad, memcpy, memset"
        );
    }

    #[test]
    fn traffic_adds_a_read_for_every_line_that_regular_stores_allocate() {
        let factors =
            |store| [Kernel::Write, Kernel::Copy, Kernel::Triad].map(|kernel| kernel.traffic_factor(store));
        assert_eq!(factors(Some(Store::Regular)), [Some(2.0), Some(1.5), Some(4.0 / 3.0)]);
        assert_eq!(factors(Some(Store::NonTemporal)), [Some(1.0); 3]);
        assert_eq!(Kernel::Read.traffic_factor(None), Some(1.0));
        assert_eq!(Kernel::Memcpy.traffic_factor(None), None);
    }
}
