//! Parameters that steer the library, as the variables that it knows, and what they exclude.

use seatrial_model::{Cause, Params, Reason};

use super::operation::Operation;

/// The first version whose `NCCL_ALGO` tells functions apart.
const BY_FUNCTION: (u32, u32) = (2, 24);

/// The algorithm that NCCL has to use; none where it chooses.
pub fn algorithm(params: &Params) -> Option<&str> {
    params.text("algorithm").ok().filter(|word| *word != "auto")
}

/// The variables of a case for a library of this version (NCCL manual, Environment Variables).
pub fn variables(params: &Params, version: &str) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if params.text("nvlink") == Ok("off") {
        // Neither links of the GPUs nor memory of the host: what is left is the network.
        all.extend(["NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"].map(|name| (name, "1".to_owned())));
    }
    if let Some(algorithm) = algorithm(params) {
        let function = params.text("operation").unwrap_or_default().replace('_', "");
        // The broadcast that tells what comes next has rings only, and such a version refuses what has no way.
        let value = match tells_functions_apart(version) {
            true => format!("ring;{function}:{algorithm}"),
            false => algorithm.to_owned(),
        };
        all.push(("NCCL_ALGO", value));
    }
    all
}

fn tells_functions_apart(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    numbers.next().zip(numbers.next()) >= Some(BY_FUNCTION)
}

/// Whether runs are those of nccl-tests.
pub fn is_like_nccl_tests(params: &Params) -> bool {
    params.text("like") == Ok("nccl-tests")
}

/// Fails when parameters exclude each other.
pub fn check(params: &Params) -> Result<(), Reason> {
    let operation = Operation::of(params)?;
    let has_algorithms = !matches!(operation, Operation::AllToAll | Operation::SendReceive);
    let text = if algorithm(params).is_some() && !has_algorithms {
        format!("algorithm: {} has none to choose from", params.text("operation")?)
    } else if params.flag("in_place")? && !operation.has_in_place() {
        format!("in_place=true: {} needs memory of its own to receive", params.text("operation")?)
    } else if is_like_nccl_tests(params) && params.text("pace")? != "stream" {
        "pace=one: like=nccl-tests queues operations one after the other (pace=stream)".to_owned()
    } else {
        return Ok(());
    };
    Err(Reason::new(Cause::Contradiction, text))
}
