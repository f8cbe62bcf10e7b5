//! Parameters that steer the library, as the variables that it knows, and what they exclude.

use seatrial_model::{Cause, Params, Reason};

use super::operation::Operation;

/// The variables of a case (NCCL manual, Environment Variables).
pub fn variables(params: &Params) -> Vec<(&'static str, &'static str)> {
    let mut all = Vec::new();
    if params.text("nvlink") == Ok("off") {
        // Neither links of the GPUs nor memory of the host: what is left is the network.
        all.extend([("NCCL_P2P_DISABLE", "1"), ("NCCL_SHM_DISABLE", "1")]);
    }
    match params.text("algorithm") {
        Ok("ring") => all.push(("NCCL_ALGO", "Ring")),
        Ok("tree") => all.push(("NCCL_ALGO", "Tree")),
        Ok("nvls") => all.push(("NCCL_ALGO", "NVLS")),
        _ => {}
    }
    all
}

/// Whether runs are those of nccl-tests.
pub fn is_like_nccl_tests(params: &Params) -> bool {
    params.text("like") == Ok("nccl-tests")
}

/// Fails when parameters exclude each other.
pub fn check(params: &Params) -> Result<(), Reason> {
    let operation = Operation::of(params)?;
    let text = if params.flag("in_place")? && !operation.has_in_place() {
        format!("in_place=true: {} needs memory of its own to receive", params.text("operation")?)
    } else if is_like_nccl_tests(params) && params.text("pace")? != "stream" {
        "pace=one: like=nccl-tests queues operations one after the other (pace=stream)".to_owned()
    } else {
        return Ok(());
    };
    Err(Reason::new(Cause::Contradiction, text))
}
