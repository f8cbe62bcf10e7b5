//! GPUs, through the vendors' driver libraries, which are loaded at run time.
//!
//! Building needs no vendor toolkit. A missing library or function is an error that names it. [`Driver`] is the
//! interface to a vendor's library; [`cuda::Cuda`] implements it. [`Gpu`], [`Stream`], [`Event`] and memory are safe.

pub mod blas;
pub mod cuda;
mod device;
mod driver;
mod error;
pub mod find;
mod gate;
mod memory;
mod module;
pub mod nccl;
pub mod nvml;
mod stream;

pub use device::Gpu;
pub use driver::{Driver, Properties};
pub use error::{GpuError, GpuFault};
pub use gate::Gate;
pub use memory::{DeviceMemory, PinnedMemory, Span};
pub use module::{Function, Module};
pub use stream::{Event, Stream};
