//! Names of system, board and firmware, from `/sys/class/dmi/id` (Linux drivers/firmware/dmi-id.c), or the device
//! tree's `model` where there is no DMI table.

use seatrial_model::machine::{Known, Product};
use seatrial_sys::root::SysRoot;

const DMI: &str = "/sys/class/dmi/id";
const DEVICE_TREE_MODEL: &str = "/proc/device-tree/model";

pub(crate) fn read(root: &SysRoot) -> Product {
    Product {
        vendor: named(root, "sys_vendor"),
        name: named(root, "product_name").or_else(|| device_tree_model(root)),
        board_vendor: named(root, "board_vendor"),
        board_name: named(root, "board_name"),
        firmware_vendor: named(root, "bios_vendor"),
        firmware_version: named(root, "bios_version"),
        firmware_date: named(root, "bios_date"),
    }
}

/// The serial number of the system, which only root can read.
pub(crate) fn serial(root: &SysRoot) -> Option<String> {
    named(root, "product_serial").known().filter(|text| text.chars().any(|sign| sign != '0')).cloned()
}

fn named(root: &SysRoot, file: &str) -> Known<String> {
    // Placeholders of board vendors.
    const BLANK: [&str; 6] = [
        "",
        "To Be Filled By O.E.M.",
        "To be filled by O.E.M.",
        "Default string",
        "System Product Name",
        "Not Specified",
    ];
    let path = format!("{DMI}/{file}");
    match root.text(&path) {
        Ok(text) if BLANK.contains(&text.trim()) => {
            Known::unknown(format!("the firmware leaves {path} blank ({:?})", text.trim()))
        }
        Ok(text) => Known::Known(text.trim().to_owned()),
        Err(error) => Known::unknown(error.to_string()),
    }
}

/// Strings of a device tree end with a zero byte.
fn device_tree_model(root: &SysRoot) -> Known<String> {
    Known::from(root.text(DEVICE_TREE_MODEL)).and_then(|text| match text.trim_end_matches('\0').trim() {
        "" => Known::unknown(format!("{DEVICE_TREE_MODEL} is empty")),
        model => Known::Known(model.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use seatrial_sys::root::Tree;

    use super::*;

    fn product(files: &[(&str, &str)]) -> Product {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        read(&SysRoot::at(dir.path()))
    }

    #[test]
    fn takes_the_device_tree_where_there_is_no_dmi() {
        let arm = product(&[("proc/device-tree/model", "Ampere Mt. Jade\0")]);
        assert_eq!(arm.name, Known::Known("Ampere Mt. Jade".to_owned()));
        assert_eq!(arm.vendor.why(), Some("/sys/class/dmi/id/sys_vendor does not exist"));
    }

    #[test]
    fn a_field_that_nobody_filled_in_is_not_a_name() {
        let board = product(&[("sys/class/dmi/id/board_name", "To Be Filled By O.E.M.\n")]);
        assert!(board.board_name.why().is_some_and(|why| why.contains("blank")), "{board:?}");
        let dirty = product(&[("sys/class/dmi/id/product_name", ""), ("proc/device-tree/model", "\0")]);
        assert!(dirty.name.why().is_some_and(|why| why.contains("blank") && why.contains("is empty")));
    }

    #[test]
    fn a_serial_number_that_nobody_filled_in_is_none() {
        for (text, expected) in [("J4X\n", Some("J4X")), ("0\n", None), ("Not Specified\n", None)] {
            let mut tree = Tree::default();
            tree.file("/sys/class/dmi/id/product_serial", text.as_bytes());
            assert_eq!(serial(&SysRoot::of(tree)).as_deref(), expected);
        }
    }
}
