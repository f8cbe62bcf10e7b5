//! Memory to measure with: of the pages asked for where they can be had, in the place asked for, resident.
#![expect(unsafe_code, reason = "views bytes as numbers")]

use super::policy::bind;
use super::region::{Region, RegionError};
use super::residency::parse;
use super::{Element, Pages, Place, Placement, PolicyError, Residency, placement};
use crate::root::{ReadError, SysRoot};

/// What memory is wanted.
#[derive(Clone, Copy, Debug)]
pub struct MapRequest<'a> {
    /// Bytes that will be used.
    pub bytes: usize,
    /// The most that may be taken in bytes, rounding up to whole pages included. The caller knows what is free;
    /// a request above is refused before the kernel is asked.
    pub cap_bytes: usize,
    /// Kinds of pages in the order of preference.
    pub pages: &'a [Pages],
    /// Where the pages shall come from.
    pub place: Place,
}

/// Why no memory could be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// Nothing was asked for.
    #[error("a mapping of 0 bytes")]
    Empty,
    /// More was asked for than the caller allows.
    #[error("a mapping of {bytes} bytes is more than the {cap} bytes allowed")]
    TooLarge {
        bytes: usize,
        /// The cap in bytes.
        cap: usize,
    },
    /// The memory could not be bound to the node asked for.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Every kind of pages was refused.
    #[error("no pages for {bytes} bytes: {}", refusals(.refused))]
    Refused {
        bytes: usize,
        /// Each kind with its reason, in the order tried.
        refused: Vec<Refusal>,
    },
}

/// A kind of pages that could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub pages: Pages,
    pub why: RegionError,
}

fn refusals(refused: &[Refusal]) -> String {
    let each = refused.iter().map(|refusal| format!("{}: {}", refusal.pages, refusal.why));
    each.collect::<Vec<_>>().join("; ")
}

/// Anonymous, private, zeroed, resident memory; given back on drop.
#[derive(Debug)]
pub struct Mapping {
    region: Region,
    bytes: usize,
    pages: Pages,
    refused: Vec<Refusal>,
    unbound: Option<PolicyError>,
}

impl Mapping {
    /// Maps, binds and populates memory of the first kind of pages that can be had.
    ///
    /// Call it on the thread that will use the memory, once that is pinned: pages of [`Place::Local`] come from
    /// the node it runs on. The memory control group is not asked: a populate beyond its limit ends in the
    /// kernel's killer, so `cap_bytes` has to respect it.
    pub fn map(request: &MapRequest<'_>) -> Result<Self, MapError> {
        let &MapRequest { bytes, cap_bytes: cap, pages, place } = request;
        if bytes == 0 {
            return Err(MapError::Empty);
        }
        if bytes > cap {
            return Err(MapError::TooLarge { bytes, cap });
        }
        let mut refused = Vec::new();
        for &pages in pages {
            let why = match Region::map(bytes, cap, pages) {
                Ok(mut region) => {
                    let unbound = settle(&region, place)?;
                    match region.populate() {
                        Ok(()) => return Ok(Self { region, bytes, pages, refused, unbound }),
                        Err(why) => why,
                    }
                }
                Err(why) => why,
            };
            refused.push(Refusal { pages, why });
        }
        Err(MapError::Refused { bytes, refused })
    }

    /// Size in bytes, as asked for.
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Always false: there is no mapping of nothing.
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The address of the first byte, aligned to 2 MiB at least.
    pub fn address(&self) -> usize {
        self.region.start().addr().get()
    }

    /// The kind of pages that was granted.
    pub const fn pages(&self) -> Pages {
        self.pages
    }

    /// The kinds that were preferred and refused, in the order tried.
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// Why [`Place::Local`] could not be set, if it could not: then the policy that the process was started under
    /// holds, which is local too unless somebody chose another.
    pub const fn unbound(&self) -> Option<PolicyError> {
        self.unbound
    }

    /// The memory as numbers; a rest smaller than one is left out.
    pub const fn as_slice<T: Element>(&self) -> &[T] {
        // SAFETY: the region holds at least `bytes` bytes, page-aligned, and `T` is a plain number (see `Element`).
        unsafe {
            std::slice::from_raw_parts(self.region.bytes().as_ptr().cast(), self.bytes / size_of::<T>())
        }
    }

    /// The memory as numbers to write; a rest smaller than one is left out.
    pub const fn as_mut_slice<T: Element>(&mut self) -> &mut [T] {
        let len = self.bytes / size_of::<T>();
        // SAFETY: as in `as_slice`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.region.bytes_mut().as_mut_ptr().cast(), len) }
    }

    /// Asks the kernel on which nodes the pages are; `at_most` that many, evenly spread, or all of them.
    pub fn placement(&self, at_most: Option<usize>) -> Result<Placement, PolicyError> {
        placement::of(&self.region.bytes()[..self.bytes], at_most)
    }

    /// Asks the kernel how much is resident and how much of that in huge pages.
    pub fn residency(&self) -> Result<Residency, ReadError> {
        let smaps = SysRoot::live().text("/proc/self/smaps")?;
        parse(&smaps, self.address(), self.address() + self.region.len())
    }
}

/// Sets the policy; a refused `Local` is only noted, since it is nearly always in force already.
fn settle(region: &Region, place: Place) -> Result<Option<PolicyError>, PolicyError> {
    match (bind(region.bytes(), place), place) {
        (Ok(()), _) => Ok(None),
        (Err(error), Place::Local) => Ok(Some(error)),
        (Err(error), Place::Node(_)) => Err(error),
    }
}
