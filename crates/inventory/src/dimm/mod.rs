//! Memory modules, from the SMBIOS table or from udev's copy of it.

mod channel;
mod smbios;
mod udev;

use seatrial_model::machine::{Dimms, Known, ModuleSerial};
use seatrial_sys::root::SysRoot;

use crate::reading::Reading;

pub(crate) fn read(at: &mut Reading<'_>) -> Known<Dimms> {
    let found = smbios::read(at.root).or_else(|| udev::read(at.root));
    found.map(|mut dimms| {
        if let Err(why) = channel::assign(&mut dimms.modules) {
            at.remark("dimm", format!("memory channels unknown: {why}"));
        }
        dimms
    })
}

/// The serial numbers of the modules, as far as they can be read.
pub(crate) fn serials(root: &SysRoot) -> Vec<ModuleSerial> {
    smbios::serials(root).unwrap_or_else(|| udev::serials(root))
}

/// Placeholder texts of firmware.
fn said(text: &str) -> Option<String> {
    const EMPTY: [&str; 6] = ["", "Not Specified", "Unknown", "None", "N/A", "<BAD INDEX>"];
    let text = text.trim();
    (!EMPTY.iter().any(|empty| text.eq_ignore_ascii_case(empty))).then(|| text.to_owned())
}
