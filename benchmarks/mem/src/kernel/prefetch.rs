//! Software prefetch in the loops; the best kind depends on the CPU vendor.

use std::fmt;

use super::name::{Kernel, Store};

/// Software prefetch of a loop. Each kind has its own distance, the best of 256 B to 8 KiB in paired measurements on
/// the two CPU families below. Prefetches are hints: beyond the end of an array they fetch a line or nothing, and
/// never fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefetch {
    None,
    /// `prefetchnta`, 1 KiB ahead: into L1, bypassing the other caches.
    Nta,
    /// `prefetcht1`, 2 KiB ahead: into L2.
    L2,
}

impl Prefetch {
    pub const ALL: &'static [Self] = &[Self::None, Self::Nta, Self::L2];

    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Nta => "prefetchnta",
            Self::L2 => "prefetcht1",
        }
    }

    /// The kind for this CPU. AMD and Intel need opposite ones. Against likwid-bench's loop form, Zen 4 gained 4 to
    /// 20 % by `prefetchnta` with non-temporal stores or none, and more by `prefetcht1` with regular stores. A 5th
    /// generation Xeon lost 35 to 60 % by `prefetchnta`; `prefetcht1` gained 3 to 15 % with non-temporal stores,
    /// compensated the fold of `read`, and lost 4 % with regular stores. Other vendors get none. In base pages
    /// `prefetchnta` lost 6 to 19 % on Zen 4 too, waiting for address translation.
    pub(super) fn preferred(kernel: Kernel, store: Option<Store>, base_pages: bool) -> Self {
        Self::by_vendor(&vendor(), kernel, store, base_pages)
    }

    fn by_vendor(vendor: &[u8; 12], kernel: Kernel, store: Option<Store>, base_pages: bool) -> Self {
        if matches!(kernel, Kernel::Write | Kernel::Memcpy | Kernel::Memset) {
            return Self::None;
        }
        match (vendor, store) {
            (b"AuthenticAMD" | b"HygonGenuine", Some(Store::Regular)) => Self::L2,
            (b"AuthenticAMD" | b"HygonGenuine", _) if !base_pages => Self::Nta,
            (b"AuthenticAMD" | b"HygonGenuine", Some(Store::NonTemporal)) => Self::None,
            (b"AuthenticAMD" | b"HygonGenuine", None) => Self::L2,
            (b"GenuineIntel", None | Some(Store::NonTemporal)) => Self::L2,
            _ => Self::None,
        }
    }
}

impl fmt::Display for Prefetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(target_arch = "x86_64")]
use super::x86::vendor;

#[cfg(not(target_arch = "x86_64"))]
const fn vendor() -> [u8; 12] {
    [0; 12]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amd_is_never_given_intels_kind_nor_intel_amds() {
        let of = |vendor, store| Prefetch::by_vendor(vendor, Kernel::Copy, Some(store), false);
        assert_eq!(of(b"AuthenticAMD", Store::NonTemporal), Prefetch::Nta);
        assert_eq!(of(b"AuthenticAMD", Store::Regular), Prefetch::L2);
        assert_eq!(of(b"GenuineIntel", Store::NonTemporal), Prefetch::L2);
        assert_eq!(of(b"GenuineIntel", Store::Regular), Prefetch::None);
        assert_eq!(of(b"CentaurHauls", Store::Regular), Prefetch::None);
    }

    #[test]
    fn nothing_is_prefetched_past_the_caches_in_base_pages() {
        let of = |kernel, store| Prefetch::by_vendor(b"AuthenticAMD", kernel, store, true);
        assert_eq!(of(Kernel::Read, None), Prefetch::L2);
        assert_eq!(of(Kernel::Triad, Some(Store::NonTemporal)), Prefetch::None);
    }

    #[test]
    fn a_loop_without_loads_prefetches_nothing() {
        let kind = Prefetch::by_vendor(b"AuthenticAMD", Kernel::Write, Some(Store::Regular), false);
        assert_eq!(kind, Prefetch::None);
    }
}
