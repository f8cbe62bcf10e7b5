//! NVIDIA's library of matrix products (cuBLAS), loaded at run time, on the driver's primary context: no CUDA runtime is
//! needed in the process.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{DeviceMemory, Gpu, GpuError, GpuFault, Span, Stream, find};
use crate::library::{LibraryError, table};

type Handle = *mut c_void;
type CudaStream = *mut c_void;

table! {
    Table {
        create(*mut Handle) = c"cublasCreate_v2";
        destroy(Handle) = c"cublasDestroy_v2";
        set_stream(Handle, CudaStream) = c"cublasSetStream_v2";
        set_workspace(Handle, *mut c_void, usize) = c"cublasSetWorkspace_v2";
        property(c_int, *mut c_int) = c"cublasGetProperty";
        multiply(
            Handle, c_int, c_int, c_int, c_int, c_int, *const c_void, *const c_void, c_int, c_int, *const c_void, c_int,
            c_int, *const c_void, *mut c_void, c_int, c_int, c_int, c_int,
        ) = c"cublasGemmEx";
    }
}

/// `CUBLAS_OP_N`, `CUBLAS_OP_T` and `CUBLAS_GEMM_DEFAULT` (cublas_api.h).
const PLAIN: c_int = 0;
const TRANSPOSED: c_int = 1;
const DEFAULT: c_int = -1;

/// What the library works with besides the operands: as much as NVIDIA's manual asks for on Hopper.
const WORKSPACE: usize = 32 << 20;

/// Types of the elements of a product, and what the library calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlasType {
    Bf16,
    Fp16,
    Tf32,
    Fp32,
    Fp64,
    /// E4M3, by cuBLASLt.
    Fp8,
    Int8,
}

impl BlasType {
    /// `cudaDataType` of the elements and of the sums (library_types.h), `cublasComputeType_t` (cublas_api.h).
    const fn codes(self) -> (c_int, c_int, c_int) {
        match self {
            Self::Bf16 => (14, 0, 68),
            Self::Fp16 => (2, 0, 68),
            Self::Tf32 => (0, 0, 77),
            Self::Fp32 => (0, 0, 68),
            Self::Fp64 => (1, 1, 70),
            Self::Fp8 => (28, 0, 68),
            Self::Int8 => (3, 10, 72),
        }
    }

    const fn bytes(self) -> (u64, u64) {
        match self {
            Self::Bf16 | Self::Fp16 => (2, 4),
            Self::Tf32 | Self::Fp32 => (4, 4),
            Self::Fp64 => (8, 8),
            Self::Fp8 | Self::Int8 => (1, 4),
        }
    }

    /// The factors 1 and 0, in the type of the sums.
    const fn factors(self) -> [u64; 2] {
        match self {
            Self::Fp64 => [1_f64.to_bits(), 0],
            Self::Int8 => [1, 0],
            _ => [1_f32.to_bits() as u64, 0],
        }
    }
}

/// The loaded library.
#[derive(Debug)]
pub struct Blas {
    table: Table,
    light: light::Light,
    path: PathBuf,
}

macro_rules! call {
    ($table:expr, $field:ident($($arg:expr),* $(,)?)) => {{
        let entry = $table.$field;
        let function = entry.function.ok_or(GpuError::TooOld { what: "cuBLAS", symbol: entry.symbol })?;
        // SAFETY: the arguments are of the types that the function takes; pointers among them lead to variables that live
        // through the call, or to device memory that the stream keeps until its work is done.
        let code = unsafe { function($($arg),*) };
        answer(entry.symbol, code)
    }};
}

mod light;

/// `cublasStatus_t` (cublas_api.h).
fn answer(call: &'static str, code: c_int) -> Result<(), GpuError> {
    let (name, fault) = match code {
        0 => return Ok(()),
        1 => ("CUBLAS_STATUS_NOT_INITIALIZED", GpuFault::Other),
        3 => ("CUBLAS_STATUS_ALLOC_FAILED", GpuFault::OutOfMemory),
        7 => ("CUBLAS_STATUS_INVALID_VALUE", GpuFault::Other),
        8 => ("CUBLAS_STATUS_ARCH_MISMATCH", GpuFault::NotSupported),
        11 => ("CUBLAS_STATUS_MAPPING_ERROR", GpuFault::Lost),
        13 => ("CUBLAS_STATUS_EXECUTION_FAILED", GpuFault::Lost),
        14 => ("CUBLAS_STATUS_INTERNAL_ERROR", GpuFault::Other),
        15 => ("CUBLAS_STATUS_NOT_SUPPORTED", GpuFault::NotSupported),
        _ => ("an unknown result", GpuFault::Other),
    };
    Err(GpuError::Refused { call, code, name: name.to_owned(), text: String::new(), fault })
}

impl Blas {
    /// In earlier versions `cublasGemmEx` takes another type of computation.
    pub const LEAST: c_int = 11;

    const NAMES: [&str; 3] = ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"];
    const BESIDE: [&str; 3] = ["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"];

    /// Loads the library of this file or folder; if none is named, from where the dynamic linker looks, and from Python
    /// wheels and CUDA toolkits.
    ///
    /// # Errors
    /// When it is not there, cannot be loaded, or is too old.
    pub fn open(named: Option<&Path>) -> Result<Arc<Self>, GpuError> {
        let library = find::open(&Self::NAMES, &Self::BESIDE, named)?;
        let blas = Self {
            table: Table::load(&library),
            light: light::Light::load(&library),
            path: find::path_of(&library, c"cublasCreate_v2"),
        };
        if blas.table.multiply.function.is_none() {
            let name = blas.path.display().to_string();
            return Err(
                LibraryError::Refused { name, why: "it has no function cublasGemmEx".to_owned() }.into()
            );
        }
        match blas.property(0)? {
            ..Self::LEAST => Err(GpuError::OldLibrary {
                name: blas.path.display().to_string(),
                version: blas.version()?,
                least: "11".to_owned(),
            }),
            _ => Ok(Arc::new(blas)),
        }
    }

    /// The file that was loaded.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn property(&self, which: c_int) -> Result<c_int, GpuError> {
        let mut value = 0;
        call!(self.table, property(which, &raw mut value))?;
        Ok(value)
    }

    /// For example `13.1.0`.
    ///
    /// # Errors
    /// When the library does not tell.
    pub fn version(&self) -> Result<String, GpuError> {
        Ok(format!("{}.{}.{}", self.property(0)?, self.property(1)?, self.property(2)?))
    }
}

/// The library on one device. Products of one handle have the same bits whenever they are repeated: the handle has its own
/// memory to work with (cuBLAS manual, Results Reproducibility).
#[derive(Debug)]
pub struct BlasHandle {
    blas: Arc<Blas>,
    gpu: Gpu,
    raw: usize,
    workspace: Arc<DeviceMemory>,
    /// Of the last shape that cuBLASLt multiplied.
    plan: Mutex<Option<light::Plan>>,
}

impl BlasHandle {
    /// Bytes of the device's memory that a handle takes.
    pub const BYTES: u64 = WORKSPACE as u64;

    /// # Errors
    /// When the library refuses the device, or the device has no memory left.
    pub fn new(blas: &Arc<Blas>, gpu: &Gpu) -> Result<Self, GpuError> {
        let workspace = DeviceMemory::take(gpu, WORKSPACE)?;
        gpu.entered()?;
        let mut raw: Handle = std::ptr::null_mut();
        call!(blas.table, create(&raw mut raw))?;
        Ok(Self {
            blas: Arc::clone(blas),
            gpu: gpu.clone(),
            raw: raw.expose_provenance(),
            workspace,
            plan: Mutex::default(),
        })
    }

    pub fn blas(&self) -> &Blas {
        &self.blas
    }

    fn raw(&self) -> Handle {
        std::ptr::with_exposed_provenance_mut(self.raw)
    }

    /// Queues `sums = one x other'`, of `[rows, columns, depth]`: both operands lie row after row along the depth, the sums
    /// row after row.
    ///
    /// # Errors
    /// When the library refuses, or memory is too short.
    pub fn multiply(
        &self,
        stream: &Stream,
        kind: BlasType,
        [rows, columns, depth]: [u64; 3],
        (one, other, sums): (Span<'_>, Span<'_>, Span<'_>),
    ) -> Result<(), GpuError> {
        if !self.gpu.is(stream.gpu()) {
            return Err(GpuError::Foreign { what: "the stream" });
        }
        let (each, sum) = kind.bytes();
        let pointer = |span: Span<'_>, bytes: u64| -> Result<*mut c_void, GpuError> {
            Ok(std::ptr::with_exposed_provenance_mut(span.address(bytes as usize)? as usize))
        };
        let (a, b) = (pointer(one, rows * depth * each)?, pointer(other, columns * depth * each)?);
        let to = pointer(sums, rows * columns * sum)?;
        let workspace = Span::Device(&self.workspace, 0);
        self.gpu.entered()?;
        [one, other, sums, workspace].into_iter().for_each(|span| stream.keep(span));
        let own = std::ptr::with_exposed_provenance_mut(stream.raw());
        call!(self.blas.table, set_stream(self.raw(), own))?;
        // Setting the stream takes the workspace away again (cuBLAS manual, cublasSetStream). Versions before 11.2 have none.
        if self.blas.table.set_workspace.function.is_some() {
            let memory = pointer(workspace, WORKSPACE as u64)?;
            call!(self.blas.table, set_workspace(self.raw(), memory, WORKSPACE))?;
        }
        let (element, total, compute) = kind.codes();
        let factors = kind.factors();
        let factor = |number: usize| std::ptr::from_ref(&factors[number]).cast::<c_void>();
        let [rows, columns, depth] = [rows, columns, depth].map(|count| count as c_int);
        if kind == BlasType::Fp8 {
            let shape = [columns, rows, depth];
            let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
            if plan.as_ref().is_none_or(|plan| !plan.is_of(shape)) {
                *plan = Some(light::Plan::new(&self.blas, self.raw(), kind, shape)?);
            }
            let plan = plan.as_ref().expect("made above");
            let memory = pointer(workspace, WORKSPACE as u64)?;
            return plan.multiply(self.raw(), [factor(0), factor(1)], [b, a, to, memory, own]);
        }
        // The library stores matrices column after column: the transposed sums are other x one'.
        call!(
            self.blas.table,
            multiply(
                self.raw(),
                TRANSPOSED,
                PLAIN,
                columns,
                rows,
                depth,
                factor(0),
                b,
                element,
                depth,
                a,
                element,
                depth,
                factor(1),
                to,
                total,
                columns,
                compute,
                DEFAULT,
            )
        )
    }
}

impl Drop for BlasHandle {
    fn drop(&mut self) {
        let destroy = || {
            self.gpu.entered()?;
            call!(self.blas.table, destroy(self.raw()))
        };
        let _ = destroy();
        Gpu::left();
    }
}
