//! Memory to measure with: resident, with the page kind and NUMA node asked for.
#![expect(unsafe_code, reason = "views bytes as numbers")]

use super::policy::bind;
use super::region::{Region, RegionError};
use super::residency::parse;
use super::{Element, Pages, Place, Placement, PolicyError, Residency, placement};
use crate::root::{ReadError, SysRoot};

#[derive(Clone, Copy, Debug)]
pub struct MapRequest<'a> {
    pub bytes: usize,
    /// The most that may be taken in bytes, rounded up to whole pages. Requests above are refused before any system
    /// call.
    pub cap_bytes: usize,
    pub pages: &'a [Pages],
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    #[error("a mapping of 0 bytes")]
    Empty,
    #[error("a mapping of {bytes} bytes is more than the {cap} bytes allowed")]
    TooLarge { bytes: usize, cap: usize },
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error("no pages for {bytes} bytes: {}", refusals(.refused))]
    Refused {
        bytes: usize,
        /// Each page kind with its reason, in the order tried.
        refused: Vec<Refusal>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub pages: Pages,
    pub why: RegionError,
}

fn refusals(refused: &[Refusal]) -> String {
    let each = refused.iter().map(|refusal| format!("{}: {}", refusal.pages, refusal.why));
    each.collect::<Vec<_>>().join("; ")
}

/// Anonymous, private, zeroed, resident memory; unmapped on drop.
#[derive(Debug)]
pub struct Mapping {
    region: Region,
    bytes: usize,
    pages: Pages,
    refused: Vec<Refusal>,
    unbound: Option<PolicyError>,
}

impl Mapping {
    /// Maps, binds and populates memory of the first page kind that can be had.
    ///
    /// Call it on the thread that will use the memory, after pinning: pages of [`Place::Local`] come from the node it
    /// runs on. `cap_bytes` must respect the memory control group: a populate beyond its limit ends in the OOM
    /// killer.
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

    pub const fn len(&self) -> usize {
        self.bytes
    }

    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The address of the first byte, aligned to at least 2 MiB.
    pub fn address(&self) -> usize {
        self.region.start().addr().get()
    }

    pub const fn pages(&self) -> Pages {
        self.pages
    }

    /// The preferred page kinds that were refused, in the order tried.
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// Why [`Place::Local`] could not be set: then the policy that the process was started under holds, which is
    /// local by default.
    pub const fn unbound(&self) -> Option<PolicyError> {
        self.unbound
    }

    /// The memory as numbers; a remainder smaller than a number is left out.
    pub const fn as_slice<T: Element>(&self) -> &[T] {
        // SAFETY: the region holds at least `bytes` bytes, page-aligned, and `T` is a plain number (see `Element`).
        unsafe {
            std::slice::from_raw_parts(self.region.bytes().as_ptr().cast(), self.bytes / size_of::<T>())
        }
    }

    pub const fn as_mut_slice<T: Element>(&mut self) -> &mut [T] {
        let len = self.bytes / size_of::<T>();
        // SAFETY: as in `as_slice`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.region.bytes_mut().as_mut_ptr().cast(), len) }
    }

    /// NUMA nodes of `at_most` pages, evenly spread, or of all pages.
    pub fn placement(&self, at_most: Option<usize>) -> Result<Placement, PolicyError> {
        placement::of(&self.region.bytes()[..self.bytes], at_most)
    }

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
