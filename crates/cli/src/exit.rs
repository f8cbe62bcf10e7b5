//! Exit codes, as documented in `--help` and the README.

use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// Every criterion met, or nothing to judge and everything measured. Warnings count as met unless `--strict`.
    pub const MET: Exit = Exit(0);
    /// Some criterion not met, or the system under test failed.
    pub const NOT_MET: Exit = Exit(1);
    /// Usage or configuration: nothing was measured.
    pub const USAGE: Exit = Exit(2);
    /// Incomplete: something that was to be judged or measured could not be.
    pub const INCOMPLETE: Exit = Exit(3);
    /// Ended by a signal: 130 for SIGINT, 143 for SIGTERM.
    pub const fn signal(number: u8) -> Exit {
        Exit(128 + number)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.0)
    }
}

/// The table of codes for the end of `--help`.
pub const HELP: &str = "\
Exit codes:
  0    every criterion met (warnings too, unless --strict)
  1    some criterion not met
  2    usage or configuration
  3    incomplete: something could not be judged
  130  interrupted (SIGINT), 143 terminated (SIGTERM)";
