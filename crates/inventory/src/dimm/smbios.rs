//! Memory devices in the SMBIOS table, which only root can read.
//!
//! Source: DMTF DSP0134, System Management BIOS Reference Specification 3.7: 6.1 (structures), 7.17 (physical memory
//! array, type 16) and 7.18 (memory device, type 17).

use std::collections::BTreeSet;

use seatrial_model::machine::{Dimm, DimmSource, Dimms, Known, ModuleSerial};
use seatrial_sys::root::SysRoot;

use super::said;

const TABLE: &str = "/sys/firmware/dmi/tables/DMI";
const MEMORY_ARRAY: u8 = 16;
const MEMORY_DEVICE: u8 = 17;
const END_OF_TABLE: u8 = 127;
/// 7.17.2: an array of system memory, not of video memory, flash or cache.
const USE_SYSTEM_MEMORY: u8 = 3;

pub(super) fn read(root: &SysRoot) -> Known<Dimms> {
    Known::from(root.bytes(TABLE)).and_then(|table| parse(&table))
}

/// The serial numbers of the modules; `None` if the table cannot be read.
pub(super) fn serials(root: &SysRoot) -> Option<Vec<ModuleSerial>> {
    let table = root.bytes(TABLE).ok()?;
    Some(slots(&table).iter().filter_map(serial).collect())
}

fn parse(table: &[u8]) -> Known<Dimms> {
    let slots = slots(table);
    if slots.is_empty() {
        return Known::unknown(format!("{TABLE} lists no memory device"));
    }
    let modules = slots.iter().filter_map(|slot| module(slot)).collect();
    Known::Known(Dimms {
        source: DimmSource::Smbios,
        slots: slots.len().try_into().unwrap_or(u32::MAX),
        modules,
    })
}

/// The slots of main memory.
fn slots(table: &[u8]) -> Vec<Structure<'_>> {
    let structures: Vec<Structure<'_>> = Structures { rest: table }.collect();
    let of = |kind: u8| structures.iter().filter(move |structure| structure.kind == kind);
    // Devices of other arrays are not main memory.
    let others: BTreeSet<u16> = of(MEMORY_ARRAY)
        .filter(|array| array.byte(0x05).is_some_and(|used| used != USE_SYSTEM_MEMORY))
        .filter_map(|array| array.word(0x02))
        .collect();
    let is_main = |device: &Structure<'_>| device.word(0x04).is_none_or(|array| !others.contains(&array));
    structures.into_iter().filter(|structure| structure.kind == MEMORY_DEVICE && is_main(structure)).collect()
}

/// The serial number of the module in a slot; `None` if the slot is empty or the firmware does not know it.
fn serial(device: &Structure<'_>) -> Option<ModuleSerial> {
    let Dimm { locator, bank, .. } = module(device)?;
    let (vendor, serial, part) = (device.string(0x17), device.string(0x18)?, device.string(0x1a));
    Some(ModuleSerial { locator, bank, vendor, part, serial })
}

/// The module in a slot; `None` if empty.
fn module(device: &Structure<'_>) -> Option<Dimm> {
    const EXTENDED: u16 = 0x7fff;
    let size = device.word(0x0c)?;
    let size_bytes = match size {
        0 => return None,
        0xffff => None,
        EXTENDED => device.double(0x1c).map(|mib| u64::from(mib & 0x7fff_ffff) << 20),
        kib if kib & 0x8000 != 0 => Some(u64::from(kib & 0x7fff) << 10),
        mib => Some(u64::from(mib) << 20),
    };
    Some(Dimm {
        locator: device.string(0x10).unwrap_or_default(),
        bank: device.string(0x11),
        channel: None,
        size_bytes,
        kind: device.byte(0x12).and_then(kind).map(str::to_owned),
        rated_mts: speed(device, 0x15, 0x54),
        configured_mts: speed(device, 0x20, 0x58),
        data_width_bits: device.word(0x0a).filter(|&bits| bits != 0 && bits != 0xffff).map(u32::from),
    })
}

/// A speed in MT/s: 0 is unknown, 0xffff refers to the extended field.
fn speed(device: &Structure<'_>, at: usize, extended_at: usize) -> Option<u32> {
    match device.word(at)? {
        0 => None,
        0xffff => device.double(extended_at).map(|mts| mts & 0x7fff_ffff).filter(|&mts| mts > 0),
        mts => Some(mts.into()),
    }
}

/// 7.18.2: memory types in use since 2000.
const fn kind(code: u8) -> Option<&'static str> {
    Some(match code {
        0x07 => "RAM",
        0x13 => "DDR2",
        0x18 => "DDR3",
        0x1a => "DDR4",
        0x1e => "LPDDR4",
        0x1f => "logical non-volatile",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        _ => return None,
    })
}

/// A structure: a formatted area, and strings that it refers to by number.
struct Structure<'a> {
    kind: u8,
    area: &'a [u8],
    strings: &'a [u8],
}

impl Structure<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.area.get(at).copied()
    }

    fn word(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.area.get(at..at + 2)?.try_into().ok()?))
    }

    fn double(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.area.get(at..at + 4)?.try_into().ok()?))
    }

    /// The string whose number is at `at`; numbers start at 1.
    fn string(&self, at: usize) -> Option<String> {
        let number = usize::from(self.byte(at)?).checked_sub(1)?;
        let bytes = self.strings.split(|&byte| byte == 0).nth(number)?;
        said(&String::from_utf8_lossy(bytes))
    }
}

/// The structures of a table, up to its end or the first malformed one.
struct Structures<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Structures<'a> {
    type Item = Structure<'a>;

    fn next(&mut self) -> Option<Structure<'a>> {
        let (&kind, &length) = (self.rest.first()?, self.rest.get(1)?);
        if kind == END_OF_TABLE || length < 4 {
            return None;
        }
        let (area, behind) = self.rest.split_at_checked(length.into())?;
        // The strings end with an empty one; without strings there are two zeros.
        let end = behind.windows(2).position(|pair| pair == [0, 0])?;
        self.rest = &behind[end + 2..];
        Some(Structure { kind, area, strings: &behind[..end] })
    }
}

#[cfg(test)]
mod tests {
    use seatrial_sys::root::Tree;

    use super::*;

    /// A memory device with the length of SMBIOS 3.3.
    fn device(set: impl FnOnce(&mut [u8]), strings: &str) -> Vec<u8> {
        let mut area = vec![0u8; 0x5c];
        area[0] = MEMORY_DEVICE;
        area[1] = 0x5c;
        area[0x0a] = 64;
        area[0x10] = 1;
        area[0x11] = 2;
        area[0x12] = 0x22;
        set(&mut area);
        [&area, strings.as_bytes(), &[0, 0]].concat()
    }

    fn only(table: &[u8]) -> Dimm {
        let dimms = parse(table).known().cloned().expect("known");
        assert_eq!((dimms.slots, dimms.modules.len()), (1, 1));
        dimms.modules.into_iter().next().expect("one")
    }

    fn put(area: &mut [u8], at: usize, bytes: &[u8]) {
        area[at..at + bytes.len()].copy_from_slice(bytes);
    }

    #[test]
    fn reads_size_speeds_and_names() {
        let table = device(
            |area| {
                put(area, 0x0c, &32_767u16.to_le_bytes());
                put(area, 0x1c, &65_536u32.to_le_bytes());
                put(area, 0x15, &5600u16.to_le_bytes());
                put(area, 0x20, &4800u16.to_le_bytes());
            },
            "CPU0_DIMM_A1\0Not Specified",
        );
        let expected = Dimm {
            locator: "CPU0_DIMM_A1".to_owned(),
            size_bytes: Some(64 << 30),
            kind: Some("DDR5".to_owned()),
            rated_mts: Some(5600),
            configured_mts: Some(4800),
            data_width_bits: Some(64),
            ..Dimm::default()
        };
        assert_eq!(only(&table), expected);
    }

    #[test]
    fn reads_serial_numbers_of_modules_that_have_one() {
        let module = |set: fn(&mut [u8])| {
            device(
                |area| {
                    put(area, 0x0c, &[1, 0]);
                    set(area);
                },
                "A1\0Not Specified\0Maker\0S-17\0PN 4",
            )
        };
        let whole = module(|area| {
            for (at, number) in [(0x17, 3), (0x18, 4), (0x1a, 5)] {
                area[at] = number;
            }
        });
        let unknown = module(|area| area[0x18] = 2);
        let empty = device(|area| area[0x18] = 1, "A2");
        let mut tree = Tree::default();
        tree.file(TABLE, &[whole, unknown, empty].concat());
        let expected = ModuleSerial {
            locator: "A1".to_owned(),
            bank: None,
            vendor: Some("Maker".to_owned()),
            part: Some("PN 4".to_owned()),
            serial: "S-17".to_owned(),
        };
        assert_eq!(serials(&SysRoot::of(tree)), Some(vec![expected]));
        assert_eq!(serials(&SysRoot::of(Tree::default())), None);
    }

    #[test]
    fn reads_small_unknown_and_extended_numbers() {
        let sized = |size: u16| only(&device(|area| put(area, 0x0c, &size.to_le_bytes()), "A\0B")).size_bytes;
        assert_eq!(sized(0x8000 | 512), Some(512 << 10));
        assert_eq!(sized(16_384), Some(16 << 30));
        assert_eq!(sized(0xffff), None);
        let fast = device(
            |area| {
                put(area, 0x0c, &[1, 0]);
                put(area, 0x15, &[0xff, 0xff]);
                put(area, 0x54, &70_000u32.to_le_bytes());
            },
            "A\0B",
        );
        assert_eq!((only(&fast).rated_mts, only(&fast).configured_mts), (Some(70_000), None));
    }

    #[test]
    fn counts_empty_slots_and_leaves_other_arrays_out() {
        let flash = [&[16, 6, 9, 0, 3, 5][..], &[0, 0]].concat();
        let of_flash = device(|area| put(area, 0x04, &[9, 0]), "BIOS");
        let full = device(|area| put(area, 0x0c, &[1, 0]), "A\0B");
        let table = [flash, of_flash, full, device(|_| (), "C\0D"), vec![127, 4, 0, 0, 0, 0]].concat();
        let dimms = parse(&table).known().cloned().expect("known");
        assert_eq!((dimms.slots, dimms.modules.len()), (2, 1));
    }

    #[test]
    fn survives_tables_that_are_cut_or_garbage() {
        let table = [device(|area| put(area, 0x0c, &[1, 0]), "A\0B"), vec![127, 4, 0, 0, 0, 0]].concat();
        for end in 0..table.len() {
            let cut = parse(&table[..end]);
            assert!(cut.known().is_none_or(|dimms| dimms.modules.len() == 1), "{end}");
        }
        assert!(!parse(&[17, 0, 0, 0]).is_known());
        assert!(!parse(&[0xff; 64]).is_known());
        // A device of SMBIOS 2.1 ends before the speeds.
        let old = [&[17, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 1, 0, 0, 0, 1, 0, 0x18, 0, 0][..], b"A1\0\0"]
            .concat();
        assert_eq!((only(&old).locator.as_str(), only(&old).rated_mts), ("A1", None));
    }
}
