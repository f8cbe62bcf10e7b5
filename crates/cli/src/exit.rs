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
    /// `copy`: some file was not copied, and all others were.
    pub const NOT_ALL_COPIED: Exit = Exit(1);
    /// `settings apply`: some setting is not as wanted; `settings restore`: some value was left or could not be restored.
    pub const NOT_ALL_SET: Exit = Exit(1);
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
  1    some criterion not met; without a profile: a case failed
  2    usage or configuration
  3    incomplete: something could not be judged
  130  interrupted (SIGINT), 143 terminated (SIGTERM)";

pub const COPY_HELP: &str = "\
Exit codes:
  0    all was copied, or was there already
  1    some file was not copied; all others were
  2    usage, or a target that cannot be used; nothing was copied
  3    incomplete: the other host was not reached, or a connection broke; the same command, typed again, continues
  130  interrupted (SIGINT), 143 terminated (SIGTERM); the same command, typed again, continues";

pub const APPLY_HELP: &str = "\
Exit codes:
  0    every setting is as wanted
  1    some setting is not: it did not take, or only a command that a person types sets it; --dry-run would change it
  2    usage, or nobody could be asked; nothing was changed
  3    incomplete: a node was not reached, did not answer, or could not use its journal
  130  interrupted (SIGINT), 143 terminated (SIGTERM); `seatrial settings restore` takes back what was changed";

pub const RESTORE_HELP: &str = "\
Exit codes:
  0    everything is as it was before, or there was nothing to restore
  1    some value was left, since somebody else changed it, or could not be restored; the journal stays
  2    usage; nothing was changed
  3    incomplete: a node was not reached, did not answer, or could not use its journal
  130  interrupted (SIGINT), 143 terminated (SIGTERM); the same command, typed again, continues";
