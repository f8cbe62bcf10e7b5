//! Memory modules, from the firmware's own table or from what udev wrote down of it.

mod channel;
mod smbios;
mod udev;

use seatrial_model::machine::{Dimms, Known};

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

/// Texts that firmware writes where it has nothing to say.
fn said(text: &str) -> Option<String> {
    const EMPTY: [&str; 6] = ["", "Not Specified", "Unknown", "None", "N/A", "<BAD INDEX>"];
    let text = text.trim();
    (!EMPTY.iter().any(|empty| text.eq_ignore_ascii_case(empty))).then(|| text.to_owned())
}
