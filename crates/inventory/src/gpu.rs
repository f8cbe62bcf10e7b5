//! Graphics processors and other accelerators, by their PCI class; names where a driver tells them in a file.

use seatrial_model::machine::{Gpu, Known, PciDevice};
use seatrial_sys::root::SysRoot;

use crate::keyed::Keyed;
use crate::pci::{Functions, hex, is_address};
use crate::reading::Reading;

const DEVICES: &str = "/sys/bus/pci/devices";

/// PCI-SIG's class codes, upper two bytes: what drives a screen with VGA registers.
const VGA: u32 = 0x0300;
/// The other display controllers: 3D, other.
const DISPLAY: [u32; 2] = [0x0302, 0x0380];
/// The base class of processing accelerators.
const ACCELERATOR_BASE: u32 = 0x12;

/// Vendors of accelerators, by PCI-SIG's id.
const MAKERS: [(u16, &str); 7] = [
    (0x10de, "NVIDIA"),
    (0x1002, "AMD"),
    (0x8086, "Intel"),
    (0x1da3, "Habana"),
    (0x19e5, "Huawei"),
    (0x10ee, "Xilinx"),
    (0x1e52, "Tenstorrent"),
];

/// Of these makers a VGA controller is a graphics processor too; of others it serves the console.
const OF_SCREENS_TOO: [u16; 3] = [0x10de, 0x1002, 0x8086];

/// Hypervisors, whose display controllers are made up: QEMU's three, VMware, VirtualBox, Hyper-V.
const HYPERVISORS: [u16; 6] = [0x1234, 0x1b36, 0x1af4, 0x15ad, 0x80ee, 0x1414];

pub(crate) fn read(at: &mut Reading<'_>, functions: &mut Functions) -> Known<Vec<Gpu>> {
    let names = match at.root.list(DEVICES) {
        Ok(names) => names,
        // A kernel without a PCI bus has no folder for it; without sysfs nothing can be said.
        Err(error) if error.is_missing() && at.root.exists("/sys/bus") => Vec::new(),
        Err(error) => return Known::unknown(error.to_string()),
    };
    let mut gpus = Vec::new();
    for name in names.into_iter().filter(|name| is_address(name)) {
        let Some(folder) = at.folder("pci", DEVICES, &name) else { continue };
        if !is_accelerator(at.root, &folder) {
            continue;
        }
        let Known::Known(pci) = functions.behind(at.root, &folder) else { continue };
        if pci.is_virtual_function {
            continue;
        }
        let index = gpus.len() as u32;
        gpus.push(gpu(at.root, index, &folder, pci));
    }
    Known::Known(gpus)
}

fn is_accelerator(root: &SysRoot, folder: &str) -> bool {
    let Ok(class) = hex(root, &format!("{folder}/class")).map(|class| class >> 8) else { return false };
    let vendor = hex(root, &format!("{folder}/vendor")).ok().and_then(|vendor| u16::try_from(vendor).ok());
    let of = |list: &[u16]| vendor.is_some_and(|vendor| list.contains(&vendor));
    if of(&HYPERVISORS) {
        return false;
    }
    class >> 8 == ACCELERATOR_BASE || DISPLAY.contains(&class) || (class == VGA && of(&OF_SCREENS_TOO))
}

fn gpu(root: &SysRoot, index: u32, folder: &str, pci: PciDevice) -> Gpu {
    let vendor = match (pci.vendor(), &pci.ids) {
        (Some(id), _) => match MAKERS.iter().find(|(maker, _)| *maker == id) {
            Some((_, name)) => Known::Known((*name).to_owned()),
            None => Known::unknown(format!("vendor {id:04x} is not in the table of makers")),
        },
        (None, ids) => Known::unknown(ids.why().unwrap_or("the ids make no sense")),
    };
    let by_nvidia = Nvidia::read(root, &pci.address);
    let of_amd = |file: &str| Known::from(root.text(format!("{folder}/{file}"))).and_then(said);
    let is_amd = pci.vendor() == Some(0x1002);
    let told = |nvidia: Known<String>, amd: &str| if is_amd { of_amd(amd) } else { nvidia };
    Gpu {
        index,
        vendor,
        model: told(by_nvidia.named("Model"), "product_name"),
        uuid: told(by_nvidia.named("GPU UUID"), "unique_id"),
        memory_bytes: match is_amd {
            true => root.value(format!("{folder}/mem_info_vram_total")).into(),
            false => Known::unknown("no file tells it"),
        },
        pci,
    }
}

/// What NVIDIA's driver writes about a GPU; question marks where it has not looked yet.
struct Nvidia(Result<Keyed, String>);

impl Nvidia {
    fn read(root: &SysRoot, address: &str) -> Self {
        let path = format!("/proc/driver/nvidia/gpus/{address}/information");
        Self(Keyed::read(root, &path).map_err(|error| match error.is_missing() {
            true => "no driver tells it in a file".to_owned(),
            false => error.to_string(),
        }))
    }

    fn named(&self, key: &str) -> Known<String> {
        let text = self.0.as_ref().map_err(Clone::clone).and_then(|file| {
            file.get(key).map(str::to_owned).ok_or_else(|| format!("the driver's file has no line '{key}'"))
        });
        Known::from(text).and_then(said)
    }
}

fn said(text: String) -> Known<String> {
    match text.trim() {
        text if text.is_empty() || text.contains("??") => Known::unknown("the driver does not tell it yet"),
        text => Known::Known(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn counts(vendor: &str, class: &str) -> bool {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("vendor"), vendor).expect("written");
        fs::write(dir.path().join("class"), class).expect("written");
        is_accelerator(&SysRoot::at(dir.path()), "")
    }

    #[test]
    fn a_screen_of_a_management_controller_or_hypervisor_is_no_accelerator() {
        assert!(counts("0x10de", "0x030200") && counts("0x10de", "0x030000"));
        assert!(counts("0x1002", "0x038000") && counts("0x1da3", "0x120000"));
        assert!(!counts("0x1a03", "0x030000"), "ASPEED");
        assert!(!counts("0x1af4", "0x038000"), "virtio");
        assert!(
            !counts("0x15b3", "0x020000") && !counts("0x10de", "0x040300"),
            "a network card, a GPU's sound"
        );
        assert!(!counts("0x10de", "garbage"));
    }
}
