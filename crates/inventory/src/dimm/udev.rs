//! Memory devices in the udev database, readable without privilege. systemd since version 248 stores them as
//! properties of the device `dmi/id`.

use std::collections::BTreeMap;

use seatrial_model::machine::{Dimm, DimmSource, Dimms, Known, ModuleSerial};
use seatrial_sys::root::SysRoot;

use super::said;

const DATABASE: &str = "/run/udev/data/+dmi:id";

pub(super) fn read(root: &SysRoot) -> Known<Dimms> {
    Known::from(root.text(DATABASE)).and_then(|text| parse(&text))
}

/// The serial numbers of the modules, as far as the database holds them.
pub(super) fn serials(root: &SysRoot) -> Vec<ModuleSerial> {
    let text = root.text(DATABASE).unwrap_or_default();
    slots(&text).values().filter(|slot| is_present(slot)).filter_map(serial).collect()
}

type Slot<'a> = BTreeMap<&'a str, &'a str>;

/// The properties of each slot, by number.
fn slots(text: &str) -> BTreeMap<u32, Slot<'_>> {
    let mut slots: BTreeMap<u32, Slot<'_>> = BTreeMap::new();
    for (slot, key, value) in text.lines().filter_map(property) {
        slots.entry(slot).or_default().insert(key, value);
    }
    slots
}

fn is_present(slot: &Slot<'_>) -> bool {
    slot.get("PRESENT") != Some(&"0")
}

fn parse(text: &str) -> Known<Dimms> {
    let slots = slots(text);
    if slots.is_empty() {
        return Known::unknown(format!("{DATABASE} lists no memory device"));
    }
    let modules = slots.values().filter(|slot| is_present(slot)).map(module).collect();
    Known::Known(Dimms {
        source: DimmSource::Udev,
        slots: slots.len().try_into().unwrap_or(u32::MAX),
        modules,
    })
}

/// `E:MEMORY_DEVICE_3_LOCATOR=A1` as 3, `LOCATOR` and `A1`.
fn property(line: &str) -> Option<(u32, &str, &str)> {
    let (slot, rest) = line.strip_prefix("E:MEMORY_DEVICE_")?.split_once('_')?;
    let (key, value) = rest.split_once('=')?;
    Some((slot.parse().ok()?, key, value))
}

fn text(slot: &Slot<'_>, key: &str) -> Option<String> {
    slot.get(key).and_then(|value| said(value))
}

fn serial(slot: &Slot<'_>) -> Option<ModuleSerial> {
    Some(ModuleSerial {
        locator: text(slot, "LOCATOR").unwrap_or_default(),
        bank: text(slot, "BANK_LOCATOR"),
        vendor: text(slot, "MANUFACTURER"),
        part: text(slot, "PART_NUMBER"),
        serial: text(slot, "SERIAL_NUMBER")?,
    })
}

fn module(slot: &Slot<'_>) -> Dimm {
    let text = |key: &str| text(slot, key);
    // udev stores 65535, "see the extended field", for speeds without reading that field.
    let number = |key: &str| slot.get(key)?.parse::<u32>().ok().filter(|&n| n != 0 && n != 0xffff);
    Dimm {
        locator: text("LOCATOR").unwrap_or_default(),
        bank: text("BANK_LOCATOR"),
        channel: None,
        size_bytes: slot.get("SIZE").and_then(|size| size.parse().ok()),
        // Before version 256, DDR5 and other new types are "out of spec".
        kind: text("TYPE").filter(|kind| kind != "<OUT OF SPEC>"),
        rated_mts: number("SPEED_MTS"),
        configured_mts: number("CONFIGURED_SPEED_MTS"),
        data_width_bits: number("DATA_WIDTH"),
    }
}

#[cfg(test)]
mod tests {
    use seatrial_sys::root::Tree;

    use super::*;

    #[test]
    fn reads_modules_and_empty_slots() {
        let text = "I:123\nE:ID_VENDOR=X\nE:MEMORY_ARRAY_NUM_DEVICES=2\n\
            E:MEMORY_DEVICE_0_DATA_WIDTH=64\nE:MEMORY_DEVICE_0_SIZE=34359738368\nE:MEMORY_DEVICE_0_LOCATOR=DIMM 0\n\
            E:MEMORY_DEVICE_0_BANK_LOCATOR=P0 CHANNEL A\nE:MEMORY_DEVICE_0_TYPE=<OUT OF SPEC>\n\
            E:MEMORY_DEVICE_0_SPEED_MTS=65535\nE:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=4800\n\
            E:MEMORY_DEVICE_1_PRESENT=0\nE:MEMORY_DEVICE_1_LOCATOR=DIMM 0\n";
        let dimms = parse(text).known().cloned().expect("known");
        let expected = Dimm {
            locator: "DIMM 0".to_owned(),
            bank: Some("P0 CHANNEL A".to_owned()),
            size_bytes: Some(32 << 30),
            configured_mts: Some(4800),
            data_width_bits: Some(64),
            ..Dimm::default()
        };
        assert_eq!(dimms, Dimms { source: DimmSource::Udev, slots: 2, modules: vec![expected] });
    }

    #[test]
    fn reads_serial_numbers_of_modules_that_have_one() {
        let mut tree = Tree::default();
        let text = "E:MEMORY_DEVICE_0_LOCATOR=A1\nE:MEMORY_DEVICE_0_SERIAL_NUMBER=S-17\n\
            E:MEMORY_DEVICE_1_PRESENT=0\nE:MEMORY_DEVICE_1_SERIAL_NUMBER=S-18\nE:MEMORY_DEVICE_2_LOCATOR=A3\n";
        tree.file(DATABASE, text.as_bytes());
        let found: Vec<_> =
            serials(&SysRoot::of(tree)).into_iter().map(|found| (found.locator, found.serial)).collect();
        assert_eq!(found, [("A1".to_owned(), "S-17".to_owned())]);
    }

    #[test]
    fn knows_nothing_from_a_database_without_memory() {
        assert!(!parse("E:ID_VENDOR=X\nE:MEMORY_DEVICE_x_SIZE=1\nE:MEMORY_DEVICE_9\n").is_known());
    }
}
