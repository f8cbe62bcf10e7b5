//! GPUs and other accelerators, by PCI class; names where a driver tells them in a file.

use seatrial_model::machine::{Gpu, GpuState, Known, PciDevice};
use seatrial_sys::gpu::nvml::{Clock, Handle, Nvml};
use seatrial_sys::root::SysRoot;

use crate::keyed::Keyed;
use crate::pci::{Functions, hex, is_address, payload, redirecting, translation};
use crate::reading::Reading;

const DEVICES: &str = "/sys/bus/pci/devices";

/// PCI class codes, upper two bytes: VGA controllers.
const VGA: u32 = 0x0300;
/// Other display controllers: 3D, other.
const DISPLAY: [u32; 2] = [0x0302, 0x0380];
const ACCELERATOR_BASE: u32 = 0x12;

const NVIDIA: &str = "NVIDIA";

/// Vendors of accelerators, by PCI vendor id.
const MAKERS: [(u16, &str); 7] = [
    (0x10de, NVIDIA),
    (0x1002, "AMD"),
    (0x8086, "Intel"),
    (0x1da3, "Habana"),
    (0x19e5, "Huawei"),
    (0x10ee, "Xilinx"),
    (0x1e52, "Tenstorrent"),
];

/// VGA controllers of these vendors are GPUs; of others they are for the console.
const OF_SCREENS_TOO: [u16; 3] = [0x10de, 0x1002, 0x8086];

/// Vendor ids of emulated display controllers: QEMU's three, VMware, VirtualBox, Hyper-V.
const HYPERVISORS: [u16; 6] = [0x1234, 0x1b36, 0x1af4, 0x15ad, 0x80ee, 0x1414];

pub(crate) fn read(at: &mut Reading<'_>, functions: &mut Functions) -> Known<Vec<Gpu>> {
    let names = match at.root.list(DEVICES) {
        Ok(names) => names,
        // A kernel without PCI has no such folder; without sysfs nothing is known.
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
    gpus.iter_mut().for_each(|gpu| unasked(gpu, "no library of its vendor is supported"));
    let library = match at.root.is_live() {
        true => Nvml::open().map_err(|error| error.to_string()),
        false => Err("a tree of files has no libraries".to_owned()),
    };
    ask_library(&mut gpus, library);
    Known::Known(gpus)
}

/// Adds what NVIDIA's library knows, also GPUs that only the library lists: some containers hide the PCI bus.
fn ask_library(gpus: &mut Vec<Gpu>, library: Result<Nvml, String>) {
    let is_ours = |gpu: &Gpu| gpu.vendor.known().is_some_and(|name| name == NVIDIA);
    let library = match library {
        Ok(library) => library,
        Err(why) => {
            gpus.iter_mut().filter(|gpu| is_ours(gpu)).for_each(|gpu| unasked(gpu, &why));
            return;
        }
    };
    let devices = library.devices().unwrap_or_default();
    let driver = Known::from(library.driver_version());
    for device in &devices {
        let Ok(address) = device.pci_address() else { continue };
        let at = gpus.iter().position(|gpu| gpu.pci.address == address).unwrap_or_else(|| {
            gpus.push(Gpu {
                vendor: Known::Known(NVIDIA.to_owned()),
                pci: PciDevice { address, ..PciDevice::default() },
                ..Gpu::default()
            });
            gpus.len() - 1
        });
        asked(&mut gpus[at], device);
        gpus[at].state.driver.clone_from(&driver);
    }
    gpus.sort_by(|a, b| a.pci.address.cmp(&b.pci.address));
    for (index, gpu) in gpus.iter_mut().enumerate() {
        gpu.index = index as u32;
    }
}

fn asked(gpu: &mut Gpu, device: &Handle<'_>) {
    gpu.model = device.name().into();
    gpu.uuid = device.uuid().into();
    gpu.memory_bytes = device.memory().map(|(total, _)| total).into();
    gpu.cores = device.cores().into();
    gpu.capability = device.capability().map(|(major, minor)| format!("{major}.{minor}")).into();
    gpu.clock_mhz = device.max_clock_mhz(Clock::Processors).into();
    gpu.memory_clock_mhz = device.max_clock_mhz(Clock::Memory).into();
    gpu.memory_bus_bits = device.memory_bus_bits().into();
    gpu.link_generation = device.max_link_generation().into();
    gpu.link_width = device.max_link_width().into();
    gpu.is_cut = device.is_cut().into();
    gpu.compute_mode = device.compute_mode().map(str::to_owned).into();
    gpu.persistence = device.persistence().into();
    gpu.state = state(device);
    let links = Known::from(device.nvlinks());
    gpu.nvlink_megabytes_per_second = links.clone().and_then(|links| match links.megabytes_per_second {
        Some(speed) => Known::Known(speed),
        None => Known::unknown("the driver does not tell the speed of a link"),
    });
    let end = |end: Option<String>| end.unwrap_or_else(|| "?".to_owned());
    gpu.nvlinks = links.map(|links| links.active.into_iter().map(end).collect());
}

fn state(device: &Handle<'_>) -> GpuState {
    let errors = device.errors();
    let counted = |count: Option<u64>| count.ok_or("the device does not count them").into();
    let rows = Known::from(device.remapped_rows());
    let clocks = Known::from(device.application_clocks());
    GpuState {
        driver: Known::default(),
        vbios: device.vbios().into(),
        inforom: device.inforom().into(),
        ecc: device.ecc().into(),
        power_limit_milliwatts: device.power_limit_mw().into(),
        default_power_limit_milliwatts: device.default_power_limit_mw().into(),
        corrected_errors: counted(errors.corrected),
        uncorrected_errors: counted(errors.uncorrected),
        remapped_rows: rows.as_ref().map(|rows| rows.remapped),
        is_remap_pending: rows.as_ref().map(|rows| rows.is_pending),
        has_remap_failed: rows.map(|rows| rows.has_failed),
        retired_pages: device.retired_pages().into(),
        nvlink_errors: device.nvlink_errors().into(),
        application_clock_mhz: clocks.as_ref().map(|(now, _)| *now),
        default_application_clock_mhz: clocks.map(|(_, own)| own),
    }
}

/// Without a library.
fn unasked(gpu: &mut Gpu, why: &str) {
    let pci = std::mem::take(&mut gpu.pci);
    let told = std::mem::take(gpu);
    *gpu = Gpu {
        index: told.index,
        vendor: told.vendor,
        model: told.model,
        uuid: told.uuid,
        memory_bytes: told.memory_bytes,
        cores: Known::unknown(why),
        capability: Known::unknown(why),
        clock_mhz: Known::unknown(why),
        memory_clock_mhz: Known::unknown(why),
        memory_bus_bits: Known::unknown(why),
        link_generation: Known::unknown(why),
        link_width: Known::unknown(why),
        nvlinks: Known::unknown(why),
        nvlink_megabytes_per_second: Known::unknown(why),
        is_cut: Known::unknown(why),
        compute_mode: Known::unknown(why),
        persistence: Known::unknown(why),
        state: GpuState::unknown(why),
        payload_bytes: told.payload_bytes,
        translation: told.translation,
        redirected_by: told.redirected_by,
        pci,
    };
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
            None => Known::unknown(format!("vendor {id:04x} is unknown")),
        },
        (None, ids) => Known::unknown(ids.why().unwrap_or("the ids are malformed")),
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
            false => Known::unknown("the kernel does not report it"),
        },
        payload_bytes: payload(root, folder),
        translation: translation(root, folder),
        redirected_by: redirecting(root, folder),
        pci,
        ..Gpu::default()
    }
}

/// NVIDIA driver's file on a GPU; question marks where the driver has not looked yet.
struct Nvidia(Result<Keyed, String>);

impl Nvidia {
    fn read(root: &SysRoot, address: &str) -> Self {
        let path = format!("/proc/driver/nvidia/gpus/{address}/information");
        Self(Keyed::read(root, &path).map_err(|error| match error.is_missing() {
            true => "no driver reports it in a file".to_owned(),
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
#[path = "../../sys/tests/fake_gpu/compile.rs"]
mod fake;

#[cfg(test)]
mod tests {
    use super::fake::Fake;
    use super::*;
    use std::fs;

    fn on_the_bus(address: &str) -> Gpu {
        let pci = PciDevice { address: address.to_owned(), ..PciDevice::default() };
        Gpu { vendor: Known::Known(NVIDIA.to_owned()), pci, ..Gpu::default() }
    }

    #[test]
    fn the_library_s_facts_go_to_the_gpu_at_their_address_and_hidden_gpus_are_added() {
        let fake = Fake::new("devices=2 mig=1 mode=3");
        let mut gpus = vec![on_the_bus("0000:11:00.0")];
        ask_library(&mut gpus, Nvml::open_at(&fake.library()).map_err(|error| error.to_string()));
        let places: Vec<_> = gpus.iter().map(|gpu| (gpu.index, gpu.pci.address.as_str())).collect();
        assert_eq!(places, [(0, "0000:10:00.0"), (1, "0000:11:00.0")]);
        for gpu in &gpus {
            assert_eq!(
                (gpu.memory_clock_mhz.known(), gpu.memory_bus_bits.known()),
                (Some(&5000), Some(&1000))
            );
            assert_eq!((gpu.link_generation.known(), gpu.link_width.known()), (Some(&5), Some(&16)));
            assert_eq!(gpu.nvlinks.known().map(Vec::len), Some(2));
            assert_eq!(gpu.nvlink_megabytes_per_second.known(), Some(&250_000));
            assert_eq!(
                (gpu.is_cut.known(), gpu.compute_mode.known().map(String::as_str)),
                (Some(&true), Some("exclusive"))
            );
        }
        assert_eq!(gpus[1].uuid.known().map(String::as_str), Some("GPU-fake-1"));
    }

    #[test]
    fn packets_translation_and_redirections_are_read_beside_the_device() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        let (above, own) =
            ("/sys/devices/pci0000:00/0000:00:01.0", "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0");
        fs::create_dir_all(root.locate(format!("{own}/iommu_group"))).expect("made");
        fs::write(root.locate(format!("{own}/iommu_group/type")), "DMA-FQ\n").expect("written");
        let mut config = vec![0_u8; 4096];
        config[0x06] = 0x10;
        config[0x34] = 0x60;
        config[0x60] = 0x10;
        config[0x68] = 0x34;
        fs::write(root.locate(format!("{own}/config")), &config).expect("written");
        config[0x100..0x108].copy_from_slice(&[0x0d, 0, 1, 0, 0, 0, 0x1d, 0]);
        fs::write(root.locate(format!("{above}/config")), &config).expect("written");
        let pci = PciDevice { address: "0000:01:00.0".to_owned(), ..PciDevice::default() };
        let read = gpu(&root, 0, own, pci.clone());
        assert_eq!(read.payload_bytes, Known::Known(256));
        assert_eq!(read.translation, Known::Known("DMA-FQ".to_owned()));
        assert_eq!(read.redirected_by, Known::Known(vec!["0000:00:01.0".to_owned()]));
        fs::remove_dir_all(root.locate(format!("{own}/iommu_group"))).expect("removed");
        fs::write(root.locate(format!("{above}/config")), &config[..64]).expect("written");
        let read = gpu(&root, 0, own, pci);
        assert_eq!(read.translation, Known::Known("none".to_owned()));
        assert!(read.redirected_by.why().is_some_and(|why| why.contains("run as root")));
    }

    #[test]
    fn without_the_library_each_fact_says_why_it_is_not_known() {
        let mut gpus = vec![on_the_bus("0000:10:00.0")];
        ask_library(&mut gpus, Err("libnvidia-ml.so.1 not found".to_owned()));
        assert_eq!(gpus[0].memory_clock_mhz.why(), Some("libnvidia-ml.so.1 not found"));
        assert_eq!(gpus[0].pci.address, "0000:10:00.0");
    }

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
