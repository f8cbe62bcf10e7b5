//! The one line of a gate, which its judgement and its watch both want to print.

use std::sync::OnceLock;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// What the line that was printed told.
static PRINTED: OnceLock<Exit> = OnceLock::new();

/// Why a line was not printed.
pub enum Told {
    /// Another was first, and told this.
    Before(Exit),
    NotPrinted(CliError),
}

/// Prints the only line of this process, which tells `found`.
pub fn print(line: &str, found: Exit) -> Result<(), Told> {
    match PRINTED.set(found) {
        Ok(()) => output::print(&format!("{line}\n")).map_err(Told::NotPrinted),
        Err(_) => Err(Told::Before(PRINTED.get().copied().unwrap_or(found))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_line_is_not_printed_and_learns_what_the_first_told() {
        assert!(print("fail: the first", Exit::NOT_MET).is_ok());
        assert!(matches!(print("unknown: the second", Exit::INCOMPLETE), Err(Told::Before(Exit::NOT_MET))));
    }
}
