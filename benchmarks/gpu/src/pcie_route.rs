//! The PCI Express links between a GPU and the CPU, read under load: an idle device may lower its link speed, and a
//! bridge above it may have trained with fewer lanes.

use std::collections::BTreeSet;

use seatrial_inventory::{pci_path, reduced_link};
use seatrial_model::machine::Known;
use seatrial_sys::root::SysRoot;
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct PcieRoute {
    root: SysRoot,
    address: String,
    /// By link: its name, and every observed state below the capability of both its ends.
    links: Vec<(String, BTreeSet<String>)>,
    looks: u32,
    unreadable: Option<String>,
}

impl PcieRoute {
    pub fn of(root: &SysRoot, address: &str) -> Self {
        let (root, address) = (root.clone(), address.to_owned());
        Self { root, address, links: Vec::new(), looks: 0, unreadable: None }
    }

    pub fn read_link(&mut self) {
        let path = match pci_path(&self.root, &self.address) {
            Known::Known(path) => path,
            Known::Unknown(why) => {
                self.unreadable = Some(why);
                return;
            }
        };
        self.looks += 1;
        for link in path.links() {
            let upper = link.upper.map(|end| format!(" - {}", end.address));
            let name = format!("{}{}", link.lower.address, upper.unwrap_or_default());
            let at = self.links.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                self.links.push((name, BTreeSet::new()));
                self.links.len() - 1
            });
            self.links[at].1.extend(reduced_link(&link));
        }
    }

    pub fn evidence(&self) -> Value {
        match (&self.unreadable, self.looks) {
            (Some(why), 0) => json!({ "unreadable": why }),
            _ => self.links.iter().map(|(name, states)| json!({ "link": name, "reduced": states })).collect(),
        }
    }
}

/// A sentence for every link that was observed below the capability of its ends.
pub(super) fn reduced(seen: &Value) -> Vec<String> {
    let told = |link: &Value| {
        let states: Vec<&str> = link["reduced"].as_array()?.iter().filter_map(Value::as_str).collect();
        let name = link["link"].as_str()?;
        (!states.is_empty()).then(|| {
            let states = states.join("; ");
            format!(
                "link {name} between GPU and CPU ran at {states} under load: reseat the cards, check the \
                 risers and the firmware settings"
            )
        })
    };
    seen.as_array().into_iter().flatten().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A GPU below a switch that is connected to the root port with 8 of 16 lanes.
    fn tree() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        let ports = ["0000:00:01.0", "0000:01:00.0", "0000:02:00.0", "0000:03:00.0"];
        let mut folder = "/sys/devices/pci0000:00".to_owned();
        for (at, port) in ports.iter().enumerate() {
            folder = format!("{folder}/{port}");
            fs::create_dir_all(root.locate(&folder)).expect("made");
            let width = if at < 2 { "8" } else { "16" };
            for (file, text) in [
                ("vendor", "0x1000"),
                ("current_link_speed", "32.0 GT/s PCIe"),
                ("max_link_speed", "32.0 GT/s PCIe"),
                ("current_link_width", width),
                ("max_link_width", "16"),
            ] {
                fs::write(root.locate(format!("{folder}/{file}")), format!("{text}\n")).expect("written");
            }
        }
        let devices = root.locate("/sys/bus/pci/devices");
        fs::create_dir_all(&devices).expect("made");
        let target = folder.replacen("/sys/", "../../../", 1);
        symlink(target, devices.join("0000:03:00.0")).expect("linked");
        (dir, root)
    }

    #[test]
    fn a_narrow_link_above_a_switch_is_seen_although_the_gpu_s_own_is_sound() {
        let (_dir, root) = tree();
        let mut route = PcieRoute::of(&root, "0000:03:00.0");
        route.read_link();
        route.read_link();
        let told = reduced(&route.evidence());
        let expected = "link 0000:01:00.0 - 0000:00:01.0 between GPU and CPU ran at 32 GT/s x8, both its ends can do \
                        32 GT/s x16 under load: reseat the cards, check the risers and the firmware settings";
        assert_eq!(told, [expected]);
        assert_eq!(route.evidence().as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_gpu_that_no_file_shows_says_so() {
        let (_dir, root) = tree();
        let mut route = PcieRoute::of(&root, "0000:99:00.0");
        route.read_link();
        assert!(route.evidence()["unreadable"].as_str().is_some_and(|why| why.contains("0000:99:00.0")));
        assert!(reduced(&route.evidence()).is_empty());
    }
}
