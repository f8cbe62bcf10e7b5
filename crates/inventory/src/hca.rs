//! RDMA devices and their ports, from `/sys/class/infiniband` (Linux Documentation:
//! ABI/stable/sysfs-class-infiniband); MTUs, on the running system, from libibverbs.

mod library;

use seatrial_model::machine::{Hca, HcaGid, HcaPort, Known, Nic};
use seatrial_sys::root::{ReadError, SysRoot};
use seatrial_sys::verbs::GidTable;

use crate::pci::{Functions, function_folder, relaxed_ordering};
use crate::reading::Reading;

const CLASS: &str = "/sys/class/infiniband";

/// Speed classes in the kernel's words (Linux drivers/infiniband/core/sysfs.c, `rate_show`) and Gbit/s per lane; up
/// to QDR with line coding.
pub(crate) const CLASSES: [(&str, f64); 9] = [
    ("SDR", 2.5),
    ("DDR", 5.0),
    ("QDR", 10.0),
    ("FDR10", 10.0),
    ("FDR", 14.0),
    ("EDR", 25.0),
    ("HDR", 50.0),
    ("NDR", 100.0),
    ("XDR", 200.0),
];

pub(crate) fn read(at: &mut Reading<'_>, functions: &mut Functions) -> Known<Vec<Hca>> {
    let names = match at.root.list(CLASS) {
        Ok(names) => names,
        // The class appears with the first RDMA driver; without sysfs nothing is known.
        Err(error) if error.is_missing() && at.root.exists("/sys/class") => Vec::new(),
        Err(error) => return Known::unknown(error.to_string()),
    };
    let mut hcas = Vec::new();
    for name in names {
        let Some(folder) = at.folder("hca", CLASS, &name) else { continue };
        let hca = device(at.root, functions, &name, &folder);
        contradictions(at, &hca);
        hcas.push(hca);
    }
    library::ask(at.root, &mut hcas);
    Known::Known(hcas)
}

fn device(root: &SysRoot, functions: &mut Functions, name: &str, folder: &str) -> Hca {
    let text = |file: &str| {
        Known::from(root.text(format!("{folder}/{file}"))).and_then(|text| match text.is_empty() {
            true => Known::unknown("the driver leaves it blank"),
            false => Known::Known(text),
        })
    };
    let behind = root.resolve(format!("{folder}/device"));
    let pci = match &behind {
        Ok(behind) => functions.behind(root, behind),
        Err(error) if error.is_missing() => Known::unknown("there is no device for it"),
        Err(error) => Known::unknown(error.to_string()),
    };
    let relaxed_ordering = match &behind {
        Ok(behind) => match function_folder(behind) {
            Some(function) => relaxed_ordering(root, function),
            None => Known::unknown("there is no PCI function for it"),
        },
        Err(_) => Known::unknown("there is no PCI function for it"),
    };
    let numbers = root.numbered(format!("{folder}/ports"), "").unwrap_or_default();
    Hca {
        name: name.to_owned(),
        is_software: is_software(root, folder),
        node_guid: text("node_guid"),
        sys_image_guid: text("sys_image_guid"),
        firmware: text("fw_ver"),
        model: text("hca_type"),
        board_id: text("board_id"),
        driver: root.link_name(format!("{folder}/device/driver")).into(),
        pci,
        relaxed_ordering,
        ports: numbers.into_iter().map(|number| port(root, name, folder, number)).collect(),
    }
}

/// Soft RoCE names the interface below (`parent`); soft iWARP its type. Older kernels put them into the folder of the
/// card below, so a PCI address proves nothing.
fn is_software(root: &SysRoot, folder: &str) -> bool {
    let described = root.text(format!("{folder}/node_desc")).unwrap_or_default();
    folder.starts_with("/sys/devices/virtual/")
        || root.exists(format!("{folder}/parent"))
        || described == "rxe"
        || described.starts_with("Software iWARP")
}

fn port(root: &SysRoot, device: &str, folder: &str, number: u32) -> HcaPort {
    let file = |file: &str| format!("{folder}/ports/{number}/{file}");
    let rate_text = Known::from(root.text(file("rate")));
    let rate = rate_text.as_ref().and_then(|text| {
        let rate = rate(text);
        Known::from(
            rate.ok_or_else(|| ReadError::garbage(file("rate"), text, "a rate such as 100 Gb/sec (4X EDR)")),
        )
    });
    HcaPort {
        number,
        state: named(root, &file("state")).into(),
        physical_state: named(root, &file("phys_state")).into(),
        link_layer: root.text(file("link_layer")).into(),
        rate_gbit_s: rate.as_ref().map(|rate| rate.gbit_s),
        lanes: rate.as_ref().map(|rate| rate.lanes),
        speed_class: rate.map(|rate| rate.class),
        rate_text,
        lid: lid(root, &file("lid")).into(),
        active_mtu: Known::default(),
        max_mtu: Known::default(),
        gids: gids(root, device, number),
        netdevs: netdevs(root, folder, number),
    }
}

/// The word of `4: ACTIVE`.
fn named(root: &SysRoot, path: &str) -> Result<String, ReadError> {
    let text = root.text(path)?;
    let word = text.split_once(':').map(|(_, word)| word.trim().to_owned()).filter(|word| !word.is_empty());
    word.ok_or_else(|| ReadError::garbage(path, &text, "a number and a word, such as 4: ACTIVE"))
}

fn lid(root: &SysRoot, path: &str) -> Result<u32, ReadError> {
    crate::pci::hex(root, path)
}

fn gids(root: &SysRoot, device: &str, number: u32) -> Known<Vec<HcaGid>> {
    let Ok(port) = u8::try_from(number) else {
        return Known::unknown(format!("port {number} is impossible"));
    };
    match GidTable::read(root, device, port) {
        Ok(table) => {
            let gid = |entry: seatrial_sys::verbs::GidEntry| HcaGid {
                index: entry.index,
                gid: entry.gid.to_string(),
                kind: entry.kind.name().to_owned(),
                netdev: entry.netdev,
            };
            Known::Known(table.entries.into_iter().map(gid).collect())
        }
        Err(error) => Known::unknown(error.to_string()),
    }
}

struct Rate {
    gbit_s: f64,
    lanes: u32,
    class: String,
}

/// `200 Gb/sec (4X HDR)`; SDR is left out: `10 Gb/sec (4X)`.
fn rate(text: &str) -> Option<Rate> {
    let (number, rest) = text.split_once(" Gb/sec (")?;
    let (lanes, class) = rest.strip_suffix(')')?.split_once('X')?;
    let class = match class.trim() {
        "" => "SDR",
        class => CLASSES.iter().find(|(name, _)| *name == class)?.0,
    };
    let gbit_s = number.parse::<f64>().ok().filter(|&gbit| gbit > 0.0 && gbit < 1e5)?;
    let lanes = lanes.parse().ok().filter(|&lanes| (1..=12).contains(&lanes))?;
    Some(Rate { gbit_s, lanes, class: class.to_owned() })
}

/// Interfaces of the same device with the same port number, or below a software device.
fn netdevs(root: &SysRoot, folder: &str, number: u32) -> Vec<String> {
    if let Ok(parent) = root.text(format!("{folder}/parent")) {
        return vec![parent];
    }
    let below = format!("{folder}/device/net");
    let fits = |name: &String| {
        let of = |file: &str| root.text(format!("{below}/{name}/{file}")).ok();
        // Older drivers number ports in `dev_id` instead of `dev_port`.
        let port = of("dev_port").and_then(|text| text.parse::<u32>().ok());
        let id = of("dev_id").and_then(|text| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok());
        port.unwrap_or(0).max(id.unwrap_or(0)).checked_add(1) == Some(number)
    };
    root.list(&below).unwrap_or_default().into_iter().filter(fits).collect()
}

/// The InfiniBand port that carries an IPoIB interface: the port with the GUID at the end of its address (RFC 4391,
/// 9.1.1), else the port of its device.
pub(crate) fn port_of<'a>(nic: &Nic, hcas: &'a [Hca]) -> Option<(&'a Hca, &'a HcaPort)> {
    let layer = |layer: &Known<String>, word: &str| layer.known().is_some_and(|layer| layer == word);
    if !layer(&nic.link_layer, "infiniband") {
        return None;
    }
    let all = hcas.iter().flat_map(|hca| hca.ports.iter().map(move |port| (hca, port)));
    let ports: Vec<_> = all.filter(|(_, port)| layer(&port.link_layer, "InfiniBand")).collect();
    let guid = |text: &str| {
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        digits.len().checked_sub(16).map(|start| digits[start..].to_ascii_lowercase())
    };
    let own = nic.mac.known().and_then(|mac| guid(mac));
    let has_guid = |port: &HcaPort| port.gids.listed().iter().any(|gid| guid(&gid.gid) == own);
    let of_device = |port: &HcaPort| port.netdevs.contains(&nic.name);
    let by_guid = ports.iter().find(|(_, port)| own.is_some() && has_guid(port));
    by_guid.or_else(|| ports.iter().find(|(_, port)| of_device(port))).copied()
}

fn contradictions(at: &mut Reading<'_>, hca: &Hca) {
    if hca.ports.is_empty() {
        at.remark(&format!("hca:{}", hca.name), "the kernel reports no ports");
    }
    for port in &hca.ports {
        let subject = format!("hca:{}/{}", hca.name, port.number);
        let active = port.is_active() == Known::Known(true);
        if active && port.physical_state.known().is_some_and(|state| state != "LinkUp") {
            at.remark(&subject, "it is active without a physical link");
        }
        if active && port.link_layer.known().is_some_and(|layer| layer == "InfiniBand") {
            if port.lid == Known::Known(0) {
                at.remark(&subject, "it is active and has no LID");
            }
            if let Some(expected) = otherwise_by_lanes(port) {
                at.remark(
                    &subject,
                    format!("its lanes add up to {expected} Gbit/s, which differs from its rate"),
                );
            }
        }
    }
}

/// Rate of all lanes in Gbit/s, where the reported rate differs from it; the kernel drops the fraction of FDR.
pub(crate) fn otherwise_by_lanes(port: &HcaPort) -> Option<f64> {
    let (rate, lanes, class) = (port.rate_gbit_s.known()?, port.lanes.known()?, port.speed_class.known()?);
    let (_, lane) = CLASSES.iter().find(|(name, _)| name == class)?;
    let expected = f64::from(*lanes) * lane;
    ((rate / expected - 1.0).abs() > 0.02).then_some(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<(f64, u32, String)> {
        rate(text).map(|rate| (rate.gbit_s, rate.lanes, rate.class))
    }

    #[test]
    fn reads_the_rates_that_the_kernel_prints() {
        assert_eq!(told("200 Gb/sec (4X HDR)"), Some((200.0, 4, "HDR".to_owned())));
        assert_eq!(told("2.5 Gb/sec (1X)"), Some((2.5, 1, "SDR".to_owned())));
        assert_eq!(told("40 Gb/sec (4X FDR10)"), Some((40.0, 4, "FDR10".to_owned())));
    }

    #[test]
    fn refuses_rates_that_make_no_sense() {
        for text in
            ["", "200", "0 Gb/sec (4X HDR)", "200 Gb/sec (0X HDR)", "200 Gb/sec (4X ODR)", "NaN Gb/sec (4X)"]
        {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
