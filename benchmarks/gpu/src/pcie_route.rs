//! The PCI Express links between a GPU and the CPU, read under load: an idle device may lower its link speed, and a
//! bridge above it may have trained with fewer lanes.

use std::collections::BTreeSet;

use seatrial_inventory::{pci_path, reduced_link};
use seatrial_model::machine::Known;
use seatrial_sys::root::SysRoot;
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub(super) struct PcieRoute {
    root: SysRoot,
    address: String,
    links: Vec<LinkStates>,
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
            let at = self.links.iter().position(|known| known.link == name).unwrap_or_else(|| {
                self.links.push(LinkStates { link: name, reduced: BTreeSet::new() });
                self.links.len() - 1
            });
            self.links[at].reduced.extend(reduced_link(&link));
        }
    }

    /// For the record: the links, and the states below their best that they were seen in.
    pub fn evidence(&self) -> Way {
        match (&self.unreadable, self.looks) {
            (Some(why), 0) => Way::Unreadable { unreadable: why.clone() },
            _ => Way::Links(self.links.clone()),
        }
    }
}

/// What was seen of the links between a GPU and the processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Way {
    Links(Vec<LinkStates>),
    Unreadable { unreadable: String },
}

impl Default for Way {
    fn default() -> Self {
        Self::Links(Vec::new())
    }
}

/// A link, and every state below what both its ends can do that it was seen in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LinkStates {
    link: String,
    reduced: BTreeSet<String>,
}

/// A sentence for every link that was seen below what its ends can do.
pub(super) fn reduced(seen: &Way) -> Vec<String> {
    let Way::Links(links) = seen else { return Vec::new() };
    let told = |LinkStates { link: name, reduced: states }: &LinkStates| {
        (!states.is_empty()).then(|| {
            let states = states.iter().map(String::as_str).collect::<Vec<_>>().join("; ");
            format!(
                "link {name} between GPU and CPU ran at {states} under load: reseat the cards, check the \
                 risers and the firmware settings"
            )
        })
    };
    links.iter().filter_map(told).collect()
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
        assert!(matches!(route.evidence(), Way::Links(links) if links.len() == 2));
    }

    #[test]
    fn a_gpu_that_no_file_shows_says_so() {
        let (_dir, root) = tree();
        let mut route = PcieRoute::of(&root, "0000:99:00.0");
        route.read_link();
        let seen = route.evidence();
        assert!(matches!(&seen, Way::Unreadable { unreadable } if unreadable.contains("0000:99:00.0")));
        assert!(reduced(&route.evidence()).is_empty());
    }
}
