//! Memory of chosen page kind, NUMA node and size, with proof of all three.

mod aligned;
mod element;
mod mapping;
mod pages;
mod placement;
mod policy;
mod populate;
mod region;
pub(crate) mod residency;

pub use aligned::{Aligned, SMALLEST_PAGE};
pub use element::Element;
pub use mapping::{MapError, MapRequest, Mapping, Refusal};
pub use pages::Pages;
pub use placement::Placement;
pub use policy::{Place, PolicyError};
pub use region::RegionError;
pub use residency::Residency;
