//! The question before anything is changed.

use std::io::{IsTerminal, Write, stderr, stdin};

use seatrial_model::profile::fold;

use crate::error::CliError;

/// Asks whether to do what `question` says on `nodes`.
pub fn confirm(mut nodes: Vec<&str>, question: &str) -> Result<(), CliError> {
    let refused = |why: &str| Err(CliError::Usage(format!("nothing was changed: {why}")));
    if !stdin().is_terminal() {
        return refused(
            "nobody can be asked, since standard input is no terminal; add --yes to apply this plan, or --dry-run \
             to see it only",
        );
    }
    nodes.sort_unstable();
    nodes.dedup();
    // Standard error may be closed; then the answer is no.
    let _ = write!(stderr(), "{question} on {}? [y/N] ", fold(&nodes));
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => refused("the answer was not yes"),
    }
}
