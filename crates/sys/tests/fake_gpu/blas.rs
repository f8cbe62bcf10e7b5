//! `libcublas.so` of the same devices. A product does its work on the CPU when its stream gets there, and takes what `tflops`
//! says. What the caller may get wrong is refused as invalid: the places of the operands, and a workspace that was not set
//! again after the stream.

use std::ffi::{c_int, c_void};

use crate::world::{Op, World, with};

const INVALID: c_int = 7;

#[derive(Default)]
struct Handle {
    device: usize,
    stream: usize,
    has_workspace: bool,
}

fn planned(symbol: &str) -> Option<c_int> {
    with(|world| world.planned(symbol, crate::current()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasCreate_v2(handle: *mut *mut c_void) -> c_int {
    if let Some(code) = planned("cublasCreate") {
        return code;
    }
    let made = Handle { device: crate::current(), ..Handle::default() };
    unsafe { *handle = Box::into_raw(Box::new(made)).cast() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasDestroy_v2(handle: *mut c_void) -> c_int {
    drop(unsafe { Box::from_raw(handle.cast::<Handle>()) });
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasGetProperty(which: c_int, value: *mut c_int) -> c_int {
    let major = with(|world| world.config.number("blas", 13.0)) as c_int;
    unsafe { *value = if which == 0 { major } else { which } };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasSetStream_v2(handle: *mut c_void, stream: *mut c_void) -> c_int {
    let handle = unsafe { &mut *handle.cast::<Handle>() };
    (handle.stream, handle.has_workspace) = (stream as usize, false);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasSetWorkspace_v2(handle: *mut c_void, at: *mut c_void, bytes: usize) -> c_int {
    let handle = unsafe { &mut *handle.cast::<Handle>() };
    handle.has_workspace = !at.is_null() && bytes > 0;
    0
}

#[cfg(not(without = "cublasGemmEx"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasGemmEx(
    handle: *mut c_void,
    first: c_int,
    second: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: u64,
    a_type: c_int,
    lda: c_int,
    b: u64,
    b_type: c_int,
    ldb: c_int,
    beta: *const c_void,
    c: u64,
    c_type: c_int,
    ldc: c_int,
    compute: c_int,
    _: c_int,
) -> c_int {
    if let Some(code) = planned("cublasGemmEx") {
        return code;
    }
    let handle = unsafe { &*handle.cast::<Handle>() };
    let (kind, sum, one) = match (a_type, compute) {
        (14, 68) => ("bf16", 0, u64::from(1_f32.to_bits())),
        (2, 68) => ("fp16", 0, u64::from(1_f32.to_bits())),
        (0, 77) => ("tf32", 0, u64::from(1_f32.to_bits())),
        (0, 68) => ("fp32", 0, u64::from(1_f32.to_bits())),
        (1, 70) => ("fp64", 1, 1_f64.to_bits()),
        (3, 72) => ("int8", 10, 1),
        _ => return INVALID,
    };
    // The factors have the type of the sums: 4 bytes but for fp64.
    let factor = |at: *const c_void| match kind {
        "fp64" => unsafe { *at.cast::<u64>() },
        _ => u64::from(unsafe { *at.cast::<u32>() }),
    };
    let is_right = (first, second, lda, ldb, ldc) == (1, 0, k, k, m)
        && (b_type, c_type) == (a_type, sum)
        && (factor(alpha), factor(beta)) == (one, 0)
        && handle.has_workspace
        && handle.device == crate::current();
    if !is_right {
        return INVALID;
    }
    let arguments = vec![a, b, c, m as u64, n as u64, k as u64];
    with(|world| world.queue(handle.stream, Op::Kernel { name: format!("gemm_{kind}"), blocks: 1, threads: 1, arguments }))
}

/// What was told of a product of 8-bit floating point: its types, attributes by their numbers, and the layout of a matrix.
#[derive(Default)]
struct Told {
    types: [c_int; 2],
    attributes: [i64; 32],
    layout: (c_int, u64, u64, i64),
}

fn make(to: *mut *mut Told, told: Told) -> c_int {
    unsafe { *to = Box::into_raw(Box::new(told)) };
    0
}

/// Reads an attribute of this size and keeps it.
fn set(told: *mut Told, which: c_int, at: *const c_void, bytes: usize) -> c_int {
    let value = match bytes {
        1 => i64::from(unsafe { *at.cast::<i8>() }),
        4 => i64::from(unsafe { *at.cast::<i32>() }),
        8 => unsafe { *at.cast::<i64>() },
        _ => return INVALID,
    };
    unsafe { (*told).attributes[which as usize] = value };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulDescCreate(to: *mut *mut Told, compute: c_int, scale: c_int) -> c_int {
    make(to, Told { types: [compute, scale], ..Told::default() })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulDescSetAttribute(
    told: *mut Told,
    which: c_int,
    at: *const c_void,
    bytes: usize,
) -> c_int {
    set(told, which, at, bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatrixLayoutCreate(
    to: *mut *mut Told,
    kind: c_int,
    rows: u64,
    columns: u64,
    leading: i64,
) -> c_int {
    make(to, Told { layout: (kind, rows, columns, leading), ..Told::default() })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulPreferenceCreate(to: *mut *mut Told) -> c_int {
    make(to, Told::default())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulPreferenceSetAttribute(
    told: *mut Told,
    which: c_int,
    at: *const c_void,
    bytes: usize,
) -> c_int {
    set(told, which, at, bytes)
}

fn end(told: *mut Told) -> c_int {
    drop(unsafe { Box::from_raw(told) });
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulDescDestroy(told: *mut Told) -> c_int {
    end(told)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatrixLayoutDestroy(told: *mut Told) -> c_int {
    end(told)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulPreferenceDestroy(told: *mut Told) -> c_int {
    end(told)
}

/// The layouts of a product of 8-bit floating point as `[columns, rows, depth]`, if they fit each other and the operation.
fn shape(operation: *const Told, [a, b, c, d]: [*const Told; 4]) -> Option<[u64; 3]> {
    let operation = unsafe { &*operation };
    let [(kind, depth, m, leading), other, sums, to] = [a, b, c, d].map(|told| unsafe { (*told).layout });
    let n = other.2;
    let is_right = operation.types == [68, 0]
        && (operation.attributes[3], operation.attributes[4], operation.attributes[25]) == (1, 0, 1)
        && (kind, leading) == (28, depth as i64)
        && other == (28, depth, n, depth as i64)
        && sums == (0, m, n, m as i64)
        && to == sums;
    is_right.then_some([m, n, depth])
}

/// The first word of the algorithm that this library proposes.
const PROPOSED: u64 = 4711;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    _: *mut c_void,
    operation: *const Told,
    a: *const Told,
    b: *const Told,
    c: *const Told,
    d: *const Told,
    preference: *const Told,
    wanted: c_int,
    to: *mut [u64; 12],
    count: *mut c_int,
) -> c_int {
    if let Some(code) = planned("cublasLtMatmulAlgoGetHeuristic") {
        return code;
    }
    let has_memory = unsafe { (*preference).attributes[1] } > 0;
    if shape(operation, [a, b, c, d]).is_none() || wanted != 1 || !has_memory {
        return INVALID;
    }
    unsafe { (*to, *count) = ([PROPOSED, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1) };
    0
}

#[cfg(not(without = "cublasLtMatmul"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasLtMatmul(
    handle: *mut c_void,
    operation: *const Told,
    alpha: *const f32,
    a: u64,
    a_layout: *const Told,
    b: u64,
    b_layout: *const Told,
    beta: *const f32,
    c: u64,
    c_layout: *const Told,
    d: u64,
    d_layout: *const Told,
    algorithm: *const u64,
    workspace: *const c_void,
    bytes: usize,
    stream: usize,
) -> c_int {
    let handle = unsafe { &*handle.cast::<Handle>() };
    let Some([m, n, k]) = shape(operation, [a_layout, b_layout, c_layout, d_layout]) else { return INVALID };
    let is_right = unsafe { (*alpha, *beta, *algorithm) } == (1.0, 0.0, PROPOSED)
        && c == d
        && !workspace.is_null()
        && bytes > 0
        && handle.device == crate::current();
    if !is_right {
        return INVALID;
    }
    let arguments = vec![a, b, d, m, n, k];
    with(|world| world.queue(stream, Op::Kernel { name: "gemm_fp8".to_owned(), blocks: 1, threads: 1, arguments }))
}

/// The product that was queued; returns its duration in nanoseconds.
pub fn multiply(world: &mut World, kind: &str, arguments: &[u64]) -> f64 {
    let &[other, one, sums, columns, rows, depth] = arguments else { return 0.0 };
    let line = |from: u64, row: u64| -> Vec<f64> {
        (0..depth).map(|along| crate::product::element(kind, from, row * depth + along)).collect()
    };
    let others: Vec<Vec<f64>> = (0..columns).map(|column| line(other, column)).collect();
    if world.config.number("idle", 0.0) == 0.0 {
        for row in 0..rows {
            let own = line(one, row);
            for column in 0..columns {
                let sum: f64 = own.iter().zip(&others[column as usize]).map(|(a, b)| a * b).sum();
                let at = row * columns + column;
                // SAFETY: whoever launched it vouches for the addresses, as with a real library.
                unsafe {
                    match kind {
                        "fp64" => *(sums as *mut f64).add(at as usize) = sum,
                        "int8" => *(sums as *mut i32).add(at as usize) = sum as i32,
                        _ => *(sums as *mut f32).add(at as usize) = sum as f32,
                    }
                }
            }
        }
    }
    crate::product::made(world, sums, 2.0 * (rows * columns * depth) as f64)
}
