//! NVIDIA's management library, `libnvidia-ml.so.1`: clocks, links, errors and modes of GPUs.
//!
//! Source: NVML API reference and nvml.h of CUDA 12. Only [`GpuValue`] sets values; each value that a driver or
//! device does not report is an error of its own.

mod field;
mod layout;
mod library;
mod nvlink;
mod reading;
mod set;
mod state;
mod table;
mod xid;

pub use library::{Handle, Nvml, NvmlError};
pub use nvlink::NvLinks;
pub use reading::{Clock, Errors, Throttle};
pub use set::GpuValue;
pub use state::RemappedRows;
pub use xid::Xids;
