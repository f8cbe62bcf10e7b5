//! Benchmark code on the controller: a panic ends its case and not the run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_bench::{Benchmark, Registry, panic_text};
use seatrial_model::{Case, Cause, Params, Reason, Site};

/// The result of `compute` for a case of `bench`; `doing` names the step in the error.
pub fn guarded<T>(
    bench: &str,
    doing: &str,
    compute: impl FnOnce() -> Result<T, Reason>,
) -> Result<T, Reason> {
    // Half-done work is dropped with the panic: `compute` only reads what it shares.
    catch_unwind(AssertUnwindSafe(compute)).unwrap_or_else(|panic| {
        let text = format!("defect of {bench}: {doing} panicked: {}", panic_text(panic.as_ref()));
        Err(Reason::new(Cause::Protocol, text))
    })
}

pub fn planned(bench: &Benchmark, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    guarded(bench.about.id, "planning its cases", || bench.plan(params, site))
}

/// The cases of the benchmark `bench` with `params` on `site`, as those of `group`; `None` when it has none there.
pub fn replanned(
    registry: Registry,
    bench: &str,
    group: &str,
    params: &Params,
    site: &Site,
) -> Option<Vec<Case>> {
    let bench = registry.find(bench)?;
    let cases = planned(bench, params, site).ok()?;
    Some(cases.into_iter().map(|case| case.in_group(bench.about, group)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_reason_with_its_text() {
        let made = |count: usize| {
            guarded("mem.x", "making numbers of its samples", || {
                let values = [1.0; 2];
                Ok(values[count])
            })
        };
        assert_eq!(made(1), Ok(1.0));
        let reason = made(9).expect_err("beyond the end");
        assert_eq!(reason.cause, Cause::Protocol);
        assert!(
            reason
                .text
                .starts_with("defect of mem.x: making numbers of its samples panicked: index out of bounds"),
            "{}",
            reason.text
        );
    }
}
