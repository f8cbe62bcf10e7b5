//! The kernel's links to devices, by class or bus, into `/sys/devices`.

use super::Tree;

/// Links a device's folder from its lists, and the interface or disk to its device.
pub(super) fn link(tree: &Tree, folder: &str) {
    let Some(below) = folder.strip_prefix("/sys/devices/") else { return };
    let parts: Vec<&str> = folder.split('/').collect();
    let [.., above, name] = parts.as_slice() else { return };
    let made = below.starts_with("virtual/");
    match *above {
        "net" | "infiniband" => {
            tree.link(&format!("/sys/class/{above}/{name}"), &format!("../../devices/{below}"));
            if !made {
                tree.link(&format!("{folder}/device"), "../..");
            }
        }
        "block" => {
            tree.link(&format!("/sys/block/{name}"), &format!("../devices/{below}"));
            if !made {
                tree.link(&format!("{folder}/device"), "../..");
            }
        }
        above if above.starts_with("nvme") && is_namespace(name) => {
            tree.link(&format!("/sys/block/{name}"), &format!("../devices/{below}"));
            tree.link(&format!("{folder}/device"), "..");
        }
        _ if is_address(name) => {
            tree.link(&format!("/sys/bus/pci/devices/{name}"), &format!("../../../devices/{below}"));
        }
        _ => {}
    }
}

/// `nvme0n1`, `nvme0c0n1`; neither a controller nor a partition.
fn is_namespace(name: &str) -> bool {
    name.strip_prefix("nvme").is_some_and(|rest| rest.contains('n') && !rest.contains(['p', '-']))
}

/// `0000:3b:00.0`
fn is_address(name: &str) -> bool {
    let ends = name.rsplit_once('.').is_some_and(|(_, function)| function.len() == 1);
    ends && name.bytes().filter(|&byte| byte == b':').count() == 2
}
