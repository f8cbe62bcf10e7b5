//! The interface of a setting.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{SettingAbout, SettingReading};
use seatrial_sys::root::SysRoot;

pub trait Setting: Sync {
    fn about(&self) -> &'static SettingAbout;

    /// Readings on the host `machine` below `root`, one per subject, at least one. Changes nothing. A setting that
    /// the host lacks is absent, one that cannot be read unreadable, each with a reason.
    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading>;
}
