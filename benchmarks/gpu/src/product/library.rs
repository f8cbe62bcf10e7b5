//! NVIDIA's library of matrix products in place of the own kernels.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Cause, Params, Reason};
use seatrial_sys::gpu::blas::{Blas, BlasType};
use serde_json::{Value, json};

use super::element::{Element, OWN};
use super::{ENGINE, LIBRARY, TYPE};

/// What the library calls a type of elements.
pub fn type_of(element: Element) -> Option<BlasType> {
    Some(match element.name {
        "bf16" => BlasType::Bf16,
        "fp16" => BlasType::Fp16,
        "tf32" => BlasType::Tf32,
        "fp32" => BlasType::Fp32,
        "fp64" => BlasType::Fp64,
        "fp8" => BlasType::Fp8,
        "int8" => BlasType::Int8,
        _ => return None,
    })
}

/// Whether the case asks for the library.
pub fn is_wanted(params: &Params) -> bool {
    params.text(ENGINE.name) == Ok("blas")
}

/// Fails when the own engine has no products of this type; the library has all.
pub fn check(params: &Params) -> Result<(), Reason> {
    let kind = params.text(TYPE.name)?;
    if is_wanted(params) || OWN.contains(&kind) {
        return Ok(());
    }
    Err(Reason::new(Cause::Contradiction, format!("type={kind}: only engine=blas has products of it")))
}

/// Loads the library, in tests from the file of the driver.
pub fn open(params: &Params, library: Option<&Path>) -> Result<Arc<Blas>, Reason> {
    let named = params.text(LIBRARY.name).ok().filter(|named| *named != "auto").map(Path::new);
    Blas::open(named.or(library)).map_err(|error| {
        let text = format!(
            "cuBLAS: {error}; install it (the package libcublas, a CUDA toolkit, or the Python wheel nvidia-cublas) or name \
             its file with -p library="
        );
        Reason::new(Cause::Missing, text)
    })
}

/// For the record: which library, and the variables that steer it.
pub fn describe(blas: &Blas) -> Value {
    let ours = std::env::vars()
        .filter(|(name, _)| name.starts_with("CUBLAS") || name == "NVIDIA_TF32_OVERRIDE")
        .collect::<BTreeMap<_, _>>();
    json!({ "version": blas.version().ok(), "path": blas.path(), "variables": ours })
}
