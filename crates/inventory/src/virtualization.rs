//! Hypervisor and container.

use seatrial_model::machine::{Known, Virtualization};
use seatrial_sys::root::SysRoot;

/// Firmware vendor or product names of hypervisors, and our names for them.
const BY_FIRMWARE: [(&str, &str); 10] = [
    ("QEMU", "qemu"),
    ("KVM", "kvm"),
    ("Amazon EC2", "amazon"),
    ("Google Compute Engine", "google"),
    ("OpenStack", "openstack"),
    ("VMware", "vmware"),
    ("VirtualBox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("Xen", "xen"),
    ("Virtual Machine", "hyper-v"),
];

pub(crate) fn read(root: &SysRoot) -> Known<Virtualization> {
    hypervisor(root).map(|hypervisor| Virtualization { hypervisor, container: container(root) })
}

/// On x86-64 the CPU tells whether it is virtual (cpuid leaf 1, `hypervisor` in the flags), and the firmware names
/// the hypervisor. Elsewhere there is only the firmware, and without a name nothing is proven.
fn hypervisor(root: &SysRoot) -> Known<Option<String>> {
    let by_firmware = by_firmware(root);
    if let Some(name) = by_firmware {
        return Known::Known(Some(name));
    }
    Known::from(root.text("/proc/cpuinfo")).and_then(|text| {
        match text.lines().find(|line| line.starts_with("flags")) {
            Some(flags) if flags.split_whitespace().any(|flag| flag == "hypervisor") => {
                Known::Known(Some("unidentified".to_owned()))
            }
            Some(_) => Known::Known(None),
            None if root.exists("/sys/class/dmi/id/sys_vendor") => Known::Known(None),
            None => Known::unknown("neither the CPU nor the firmware says whether it is virtual"),
        }
    })
}

fn by_firmware(root: &SysRoot) -> Option<String> {
    if let Ok(name) = root.text("/sys/hypervisor/type") {
        return Some(name);
    }
    let named = |file: &str| root.text(format!("/sys/class/dmi/id/{file}")).ok();
    let texts: Vec<String> =
        ["sys_vendor", "product_name", "bios_vendor"].into_iter().filter_map(named).collect();
    // EC2 bare metal has the same vendor and `.metal` in the product name.
    if texts.iter().any(|text| text.contains(".metal")) {
        return None;
    }
    let known = BY_FIRMWARE.iter().find(|(mark, _)| texts.iter().any(|text| text.contains(mark)));
    known.map(|(_, name)| (*name).to_owned())
}

fn container(root: &SysRoot) -> Option<String> {
    if root.exists("/.dockerenv") {
        return Some("docker".to_owned());
    }
    if root.exists("/run/.containerenv") {
        return Some("podman".to_owned());
    }
    root.text("/run/systemd/container").ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn found(files: &[(&str, &str)]) -> Known<Virtualization> {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        read(&SysRoot::at(dir.path()))
    }

    fn hypervisor(files: &[(&str, &str)]) -> Option<String> {
        found(files).known().expect("known").hypervisor.clone()
    }

    #[test]
    fn believes_the_cpu_and_names_by_the_firmware() {
        let virtual_cpu = ("proc/cpuinfo", "flags : fpu hypervisor sse2");
        assert_eq!(hypervisor(&[("proc/cpuinfo", "flags : fpu sse2")]), None);
        assert_eq!(hypervisor(&[virtual_cpu]).as_deref(), Some("unidentified"));
        let named = [virtual_cpu, ("sys/class/dmi/id/sys_vendor", "VMware, Inc.")];
        assert_eq!(hypervisor(&named).as_deref(), Some("vmware"));
    }

    #[test]
    fn takes_rented_metal_for_metal() {
        let metal = [
            ("proc/cpuinfo", "flags : fpu sse2"),
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2"),
            ("sys/class/dmi/id/product_name", "c7i.metal-48xl"),
        ];
        assert_eq!(hypervisor(&metal), None);
    }

    #[test]
    fn does_not_take_silence_for_bare_metal() {
        assert!(!found(&[("proc/cpuinfo", "processor : 0")]).is_known());
        assert!(!found(&[]).is_known());
        let arm = [("proc/cpuinfo", "processor : 0"), ("sys/class/dmi/id/sys_vendor", "HPE")];
        assert_eq!(hypervisor(&arm), None);
    }

    #[test]
    fn sees_containers() {
        let inside = found(&[("proc/cpuinfo", "flags : fpu"), ("run/systemd/container", "lxc")]);
        assert_eq!(inside.known().expect("known").container.as_deref(), Some("lxc"));
    }
}
