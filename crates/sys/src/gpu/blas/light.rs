//! Products of 8-bit floating point, which only cuBLAS's second set of functions (cuBLASLt) has. A handle of cuBLAS is one of
//! cuBLASLt too (cuBLAS manual, cublasLtHandle_t), and the dynamic linker finds the functions through cuBLAS, which needs
//! them itself.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::{Blas, BlasType, Handle, PLAIN, TRANSPOSED, WORKSPACE, answer};
use crate::gpu::GpuError;
use crate::library::table;

type Opaque = *mut c_void;

/// `cublasLtMatmulHeuristicResult_t` (cublasLt.h).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Algorithm {
    words: [u64; 8],
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

table! {
    Light {
        operation(*mut Opaque, c_int, c_int) = c"cublasLtMatmulDescCreate";
        set(Opaque, c_int, *const c_void, usize) = c"cublasLtMatmulDescSetAttribute";
        end_operation(Opaque) = c"cublasLtMatmulDescDestroy";
        layout(*mut Opaque, c_int, u64, u64, i64) = c"cublasLtMatrixLayoutCreate";
        end_layout(Opaque) = c"cublasLtMatrixLayoutDestroy";
        preference(*mut Opaque) = c"cublasLtMatmulPreferenceCreate";
        prefer(Opaque, c_int, *const c_void, usize) = c"cublasLtMatmulPreferenceSetAttribute";
        end_preference(Opaque) = c"cublasLtMatmulPreferenceDestroy";
        choose(
            Handle, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, c_int, *mut Algorithm, *mut c_int,
        ) = c"cublasLtMatmulAlgoGetHeuristic";
        multiply(
            Handle, Opaque, *const c_void, *const c_void, Opaque, *const c_void, Opaque, *const c_void, *const c_void, Opaque,
            *mut c_void, Opaque, *const Algorithm, *mut c_void, usize, *mut c_void,
        ) = c"cublasLtMatmul";
    }
}

/// `CUBLASLT_MATMUL_DESC_TRANSA`, `_TRANSB` and `_FAST_ACCUM`, `CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES` (cublasLt.h).
const TRANSPOSE_FIRST: c_int = 3;
const TRANSPOSE_SECOND: c_int = 4;
const FAST_SUMS: c_int = 25;
const MOST_WORKSPACE: c_int = 1;

/// `CUBLAS_STATUS_NOT_SUPPORTED`.
const NOT_SUPPORTED: c_int = 15;

/// What cuBLASLt has to know of a product. What was made is destroyed with the plan.
#[derive(Debug)]
pub(super) struct Plan {
    blas: Arc<Blas>,
    shape: [c_int; 3],
    operation: usize,
    /// Of the first operand, the second, and the sums.
    layouts: Vec<usize>,
    algorithm: Algorithm,
}

fn pointer(exposed: usize) -> Opaque {
    std::ptr::with_exposed_provenance_mut(exposed)
}

const fn value<T>(value: &T) -> (*const c_void, usize) {
    (std::ptr::from_ref(value).cast(), size_of::<T>())
}

impl Plan {
    /// Chooses the algorithm of products `[m, n, k]` of the library's column-major matrices; the first operand is
    /// transposed.
    pub(super) fn new(
        blas: &Arc<Blas>,
        handle: Handle,
        kind: BlasType,
        [m, n, k]: [c_int; 3],
    ) -> Result<Self, GpuError> {
        let (element, total, compute) = kind.codes();
        let mut plan = Self {
            blas: Arc::clone(blas),
            shape: [m, n, k],
            operation: 0,
            layouts: Vec::new(),
            algorithm: Algorithm::default(),
        };
        let mut made: Opaque = std::ptr::null_mut();
        call!(plan.blas.light, operation(&raw mut made, compute, total))?;
        plan.operation = made.expose_provenance();
        for (which, transposed) in [(TRANSPOSE_FIRST, TRANSPOSED), (TRANSPOSE_SECOND, PLAIN)] {
            let (at, bytes) = value(&transposed);
            call!(plan.blas.light, set(made, which, at, bytes))?;
        }
        let (at, bytes) = value(&1_i8);
        call!(plan.blas.light, set(made, FAST_SUMS, at, bytes))?;
        for (kind, [rows, columns]) in [(element, [k, m]), (element, [k, n]), (total, [m, n])] {
            let mut made: Opaque = std::ptr::null_mut();
            call!(plan.blas.light, layout(&raw mut made, kind, rows as u64, columns as u64, rows.into()))?;
            plan.layouts.push(made.expose_provenance());
        }
        plan.algorithm = plan.choose(handle)?;
        Ok(plan)
    }

    fn layout(&self, number: usize) -> Opaque {
        pointer(self.layouts[number])
    }

    /// The library's first proposal that needs no more memory than the handle has.
    fn choose(&self, handle: Handle) -> Result<Algorithm, GpuError> {
        let mut preference: Opaque = std::ptr::null_mut();
        call!(self.blas.light, preference(&raw mut preference))?;
        let mut found = Algorithm::default();
        let mut count = 0;
        let mut chosen = || {
            let (at, bytes) = value(&WORKSPACE);
            call!(self.blas.light, prefer(preference, MOST_WORKSPACE, at, bytes))?;
            let [one, other, sums] = [0, 1, 2].map(|number| self.layout(number));
            let operation = pointer(self.operation);
            let (to, told) = (&raw mut found, &raw mut count);
            call!(self.blas.light, choose(handle, operation, one, other, sums, sums, preference, 1, to, told))
        };
        let chosen = chosen();
        let ended = call!(self.blas.light, end_preference(preference));
        chosen.and(ended)?;
        match (count, found.state) {
            (1.., 0) => Ok(found),
            (1.., state) => answer("cublasLtMatmulAlgoGetHeuristic", state).map(|()| found),
            _ => answer("cublasLtMatmulAlgoGetHeuristic", NOT_SUPPORTED).map(|()| found),
        }
    }

    pub(super) const fn is_of(&self, shape: [c_int; 3]) -> bool {
        let ([a, b, c], [d, e, f]) = (self.shape, shape);
        a == d && b == e && c == f
    }

    /// Queues the product; `factors` are 1 and 0.
    pub(super) fn multiply(
        &self,
        handle: Handle,
        factors: [*const c_void; 2],
        [one, other, sums, workspace, stream]: [Opaque; 5],
    ) -> Result<(), GpuError> {
        let [first, second, to] = [0, 1, 2].map(|number| self.layout(number));
        let operation = pointer(self.operation);
        let [of_product, of_sums] = factors;
        let algorithm = &raw const self.algorithm;
        call!(
            self.blas.light,
            multiply(
                handle, operation, of_product, one, first, other, second, of_sums, sums, to, sums, to,
                algorithm, workspace, WORKSPACE, stream,
            )
        )
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        let layouts = std::mem::take(&mut self.layouts);
        let end = || {
            for layout in layouts {
                call!(self.blas.light, end_layout(pointer(layout)))?;
            }
            match self.operation {
                0 => Ok(()),
                made => call!(self.blas.light, end_operation(pointer(made))),
            }
        };
        let _ = end();
    }
}
