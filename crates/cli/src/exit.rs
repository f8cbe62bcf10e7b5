//! Exit codes, as documented in `--help` and the README.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// All criteria met, or nothing to judge and everything measured. Warnings count as met unless `--strict`.
    pub const MET: Exit = Exit(0);
    /// A criterion is not met, or the system under test failed.
    pub const NOT_MET: Exit = Exit(1);
    /// Wrong usage or configuration; nothing was measured.
    pub const USAGE: Exit = Exit(2);
    /// Something that should be judged or measured was not.
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

pub const HELP: &str = "\
Exit codes:
  0    every criterion met (warnings too, unless --strict)
  1    some criterion not met
  2    usage or configuration
  3    incomplete: something could not be judged
  130  interrupted (SIGINT), 143 terminated (SIGTERM)";
