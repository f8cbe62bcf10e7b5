//! What every setting can do.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{SettingAbout, SettingReading};
use seatrial_sys::root::SysRoot;

/// A setting of the host.
pub trait Setting: Sync {
    /// What it says of itself, how to change it by hand included.
    fn about(&self) -> &'static SettingAbout;

    /// What it is on the host below `root`, which is `machine`: one reading a subject, at least one. Changes nothing.
    ///
    /// A setting that this host does not have is absent, one that cannot be told unreadable, each with the reason.
    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading>;
}
