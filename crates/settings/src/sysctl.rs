//! Settings that are one file below `/proc/sys`.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Bytes, Kind};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::{on_node, parse, present};

/// A setting read from and written to the file `source` of its definition.
pub struct Sysctl(pub(crate) &'static SettingAbout);

/// The kernel stores these numbers as `int`.
pub(crate) const COUNT: Kind = Kind::Count(0, i32::MAX as u64);

/// Buffer sizes, also an `int`.
pub(crate) const BUFFER: Kind = Kind::Size(Bytes(1), Bytes(i32::MAX as u64));

pub(crate) const ROW: SettingAbout = SettingAbout {
    id: "",
    title: "",
    doc: "",
    kind: COUNT,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "",
    apply: &[ApplyCommand::SOURCE],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Lost at the next boot unless a file in /etc/sysctl.d sets it. tuned sets its own when it starts.",
};

impl Setting for Sysctl {
    fn about(&self) -> &'static SettingAbout {
        self.0
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        let path = self.0.source;
        let value = root.text(path).and_then(|text| parse(self.0, path, &text));
        on_node(self.0, present(root, value))
    }
}
