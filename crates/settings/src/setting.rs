//! The interface of a setting.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{SettingAbout, SettingFile, SettingReading};
use seatrial_sys::root::SysRoot;

pub trait Setting: Sync {
    fn about(&self) -> &'static SettingAbout;

    /// Readings on the host `machine` below `root`, one per subject, at least one. Changes nothing. A setting that
    /// the host lacks is absent, one that cannot be read unreadable, each with a reason.
    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading>;

    /// Whether a wanted value is the highest that is allowed, since the host has a few values only.
    fn is_bound(&self) -> bool {
        false
    }

    /// What is written on this host so that `reading` is `file.text`, where `file` is that of the definition. A path may
    /// hold one `*` for each of several. An error says why nothing can be written.
    fn files(
        &self,
        _root: &SysRoot,
        _machine: &Machine,
        _reading: &SettingReading,
        file: SettingFile,
    ) -> Result<Vec<SettingFile>, String> {
        Ok(vec![file])
    }
}
