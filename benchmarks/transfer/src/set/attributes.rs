//! Modes and times of the files of a set, for tools that promise to keep them.

use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use seatrial_bench::directory::failed;
use seatrial_model::Reason;

use super::check::Wrong;
use super::files::DataSet;

/// No umask makes all of them.
const MODES: [u32; 4] = [0o644, 0o600, 0o755, 0o640];

/// The time of the first file in seconds since 1970; each is a second later than the one before.
const FIRST: u64 = 1_000_000_000;

fn mode(number: u64) -> u32 {
    MODES[number as usize % MODES.len()]
}

impl DataSet {
    /// Gives the file of this number its mode and its time.
    pub fn set_attributes(&self, folder: &Path, number: u64) -> Result<(), Reason> {
        let path = folder.join(self.path(number));
        let set = || -> io::Result<()> {
            let time = UNIX_EPOCH + Duration::from_secs(FIRST + number);
            File::open(&path)?.set_times(FileTimes::new().set_modified(time))?;
            fs::set_permissions(&path, Permissions::from_mode(mode(number)))
        };
        set().map_err(|error| failed("setting mode and time of", &path, &error))
    }

    /// What is wrong with the mode or the time of the file of this number. A file that is not there has neither.
    pub fn check_attributes(&self, folder: &Path, number: u64) -> Option<Wrong> {
        let path = folder.join(self.path(number));
        let about = fs::symlink_metadata(&path).ok()?;
        let (wanted, time) = (mode(number), FIRST + number);
        let has = about.mode() & 0o7777;
        let what = if has != wanted {
            format!("the mode is {has:o} instead of {wanted:o}")
        } else if about.mtime() != time as i64 {
            format!("the time is {} s since 1970 instead of {time} s", about.mtime())
        } else {
            return None;
        };
        Some(Wrong(format!("{}: {what}", path.display())))
    }
}
