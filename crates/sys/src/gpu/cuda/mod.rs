//! NVIDIA's driver, by its library `libcuda.so.1`.
//!
//! Sources: CUDA Driver API reference and the declarations of cuda.h of CUDA 12. Functions that exist in several forms
//! are looked for by the name of the form that is declared here.

mod code;
mod driver;
mod table;

pub use driver::Cuda;
