//! NVIDIA's management library, `libnvidia-ml.so.1`: clocks, links, errors and modes of its GPUs.
//!
//! Source: NVML API reference and nvml.h of CUDA 12. Everything is read, nothing is set. What a driver or a device does
//! not tell is an error of its own and leaves the rest readable.

mod field;
mod layout;
mod library;
mod nvlink;
mod reading;
mod table;
mod xid;

pub use library::{Handle, Nvml, NvmlError};
pub use nvlink::NvLinks;
pub use reading::{Clock, Errors, Throttle};
pub use xid::Xids;
