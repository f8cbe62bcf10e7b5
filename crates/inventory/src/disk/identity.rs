//! Model and serial number of a disk.

use seatrial_model::machine::{DiskBus, Known};
use seatrial_sys::root::ReadError;

use super::DiskPlace;
use super::bus::controller;

const MADE: &str = "a virtual device has none";

pub(super) fn model(place: &DiskPlace<'_>, bus: DiskBus) -> Known<String> {
    let text = |file: &str| said(place.text(file));
    match bus {
        DiskBus::Dm => text("dm/name"),
        DiskBus::Md => text("md/level"),
        DiskBus::Loop => text("loop/backing_file"),
        DiskBus::Nvme | DiskBus::NvmeFabrics => said(of_controller(place, "model")),
        DiskBus::Mmc => text("device/name"),
        _ => text("device/model").map(|model| match text("device/vendor").known() {
            // The vendor of an ATA disk is only the name of the translation layer.
            Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => format!("{vendor} {model}"),
            _ => model,
        }),
    }
}

pub(super) fn serial(place: &DiskPlace<'_>, bus: DiskBus) -> Known<String> {
    match bus {
        DiskBus::Nvme | DiskBus::NvmeFabrics => said(of_controller(place, "serial")),
        DiskBus::Virtio if place.root.exists(format!("{}/serial", place.folder)) => {
            said(place.text("serial"))
        }
        DiskBus::Dm => said(place.text("dm/uuid")),
        DiskBus::Mmc => said(place.text("device/serial")),
        _ if bus.is_made() => Known::unknown(MADE),
        _ => unit_serial(place),
    }
}

pub(super) fn wwn(place: &DiskPlace<'_>, bus: DiskBus) -> Known<String> {
    if bus.is_made() {
        return Known::unknown(MADE);
    }
    let path = if place.name.starts_with("nvme") { "wwid" } else { "device/wwid" };
    // Names of vendor, model and serial are padded with blanks.
    said(place.text(path)).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn of_controller(place: &DiskPlace<'_>, file: &str) -> Result<String, ReadError> {
    place.root.text(format!("{}/{file}", controller(place.behind)))
}

/// SCSI page "unit serial number" (SPC, page 80h): a header of four bytes, the last two of which are the length.
fn unit_serial(place: &DiskPlace<'_>) -> Known<String> {
    let path = format!("{}/device/vpd_pg80", place.folder);
    Known::from(place.root.bytes(&path)).and_then(|page| {
        let length = page.get(2..4).map(|size| usize::from(u16::from_be_bytes([size[0], size[1]])));
        let text = length.and_then(|length| page.get(4..4 + length)).map(String::from_utf8_lossy);
        match text.as_deref().map(|text| text.trim_matches(['\0', ' '])) {
            Some(serial) if !serial.is_empty() => Known::Known(serial.to_owned()),
            _ => Known::unknown(format!("{path} has no serial number")),
        }
    })
}

fn said(text: Result<String, ReadError>) -> Known<String> {
    Known::from(text).and_then(|text| match text.trim() {
        "" => Known::unknown("the device leaves it blank"),
        text => Known::Known(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_sys::root::SysRoot;
    use std::fs;

    fn serial_in(page: &[u8]) -> Known<String> {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("d/device")).expect("made");
        fs::write(dir.path().join("d/device/vpd_pg80"), page).expect("written");
        unit_serial(&DiskPlace { root: &SysRoot::at(dir.path()), name: "sda", folder: "/d", behind: "/d" })
    }

    #[test]
    fn reads_the_serial_number_page_and_survives_a_cut_one() {
        assert_eq!(serial_in(b"\0\x80\0\x08    ZC1A"), Known::Known("ZC1A".to_owned()));
        assert!(!serial_in(b"\0\x80\0\x08ZC").is_known());
        assert!(!serial_in(b"\0\x80\xff\xff").is_known());
        assert!(!serial_in(b"").is_known());
        assert!(!serial_in(b"\0\x80\0\x04\0\0\0\0").is_known());
    }
}
