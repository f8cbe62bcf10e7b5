//! NVIDIA's driver library `libcuda.so.1`.
//!
//! Sources: CUDA Driver API reference and the declarations of cuda.h of CUDA 12. Versioned functions are looked up by
//! the symbol of the version that is declared here.

mod code;
mod driver;
mod table;

pub use driver::Cuda;
