//! Graphics processors, through the libraries of their drivers, which are looked for at run time.
//!
//! Nothing of a vendor's toolkit is needed to build. A library or a function that is not there is a value: an error
//! that names it. [`Driver`] is what a vendor's library has to offer; [`cuda::Cuda`] offers it. Everything above works
//! on [`Gpu`], [`Stream`], [`Event`] and memory, which are safe to use.

pub mod cuda;
mod device;
mod driver;
mod error;
mod gate;
mod library;
mod memory;
mod module;
pub mod nvml;
mod stream;

pub use device::Gpu;
pub use driver::{Driver, Properties};
pub use error::{GpuError, GpuFault};
pub use gate::Gate;
pub use library::{Library, LibraryError};
pub use memory::{DeviceMemory, PinnedMemory, Span};
pub use module::{Function, Module};
pub use stream::{Event, Stream};
