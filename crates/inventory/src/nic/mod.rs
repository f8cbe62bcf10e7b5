//! Network interfaces, from `/sys/class/net` (Linux Documentation: ABI/testing/sysfs-class-net,
//! sysfs-class-net-queues).

mod bond;
mod irq;
mod kind;
mod networks;

use seatrial_model::machine::{Hca, Known, Nic, NicKind, Queueing};
use seatrial_sys::net::datagram::{Qdisc, all_qdiscs};
use seatrial_sys::root::{ReadError, SysRoot};
use seatrial_sys::shaping::{Shaping, shapings};

use crate::hca::port_of;
use crate::pci::Functions;
use crate::reading::Reading;

const CLASS: &str = "/sys/class/net";

/// A file of the bonding driver among the interfaces.
const NO_INTERFACE: &str = "bonding_masters";

/// Reason for software interfaces: bridges, tunnels, loopback.
const NO_DEVICE: &str = "there is no device for it";

/// Largest MTU for IP: 65,535 bytes (RFC 791, total length), and one more for the loopback.
const MOST_OF_IP: u64 = 65_536;

/// 10 Tbit/s, more than any link; drivers that do not know set all bits.
const MOST_MBIT_S: i64 = 10_000_000;

pub(crate) fn read(
    at: &mut Reading<'_>,
    functions: &mut Functions,
    in_virtual_machine: Option<bool>,
) -> Known<Vec<Nic>> {
    let names = match at.root.list(CLASS) {
        Ok(names) => names,
        Err(error) => return Known::unknown(error.to_string()),
    };
    let networks = networks::read(at.root);
    let queues = Known::from(all_qdiscs(at.root));
    let shapings = Known::from(shapings(at.root));
    let mut nics = Vec::new();
    for name in names.into_iter().filter(|name| name != NO_INTERFACE) {
        let Some((folder, files)) = at.device("nic", CLASS, &name) else { continue };
        let mut nic = interface(at.root, functions, &name, &folder, &files, in_virtual_machine);
        nic.networks = networks.as_ref().map(|all| all.get(&name).cloned().unwrap_or_default());
        nic.queueing = queues.as_ref().and_then(|queues| {
            let own = queues.get(&name).map_or(&[][..], Vec::as_slice);
            shapings.as_ref().map(|shapings| queueing(own, shapings.get(&name)))
        });
        contradictions(at, &nic);
        nics.push(nic);
    }
    Known::Known(nics)
}

fn interface(
    root: &SysRoot,
    functions: &mut Functions,
    name: &str,
    folder: &str,
    files: &[String],
    in_virtual_machine: Option<bool>,
) -> Nic {
    let file = |file: &str| format!("{folder}/{file}");
    let device = root.resolve(file("device"));
    let pci = match &device {
        Ok(device) => functions.behind(root, device),
        Err(error) if error.is_missing() => Known::unknown(NO_DEVICE),
        Err(error) => Known::unknown(error.to_string()),
    };
    let irq_cpus = match &device {
        Ok(device) => irq::cpus(root, device),
        Err(error) if error.is_missing() => Known::unknown(NO_DEVICE),
        Err(error) => Known::unknown(error.to_string()),
    };
    let driver = root.link_name(file("device/driver"));
    let told = kind::Told {
        root,
        folder,
        files,
        driver: driver.as_deref().ok(),
        pci: pci.known(),
        has_device: device.is_ok(),
        in_virtual_machine,
    };
    let kind = told.kind();
    let link_layer = link_layer(root, folder);
    let mac = mac(root, &file("address"));
    let queues = root.list(file("queues"));
    let count = |stem: &str| {
        let queues = queues.as_ref().map_err(Clone::clone);
        Known::from(queues.map(|all| all.iter().filter(|name| name.starts_with(stem)).count() as u32))
    };
    let state = Known::from(root.text(file("operstate")));
    let up = up(root, folder, &state);
    Nic {
        name: name.to_owned(),
        kind,
        permanent_mac: permanent_mac(root, folder, &mac, &link_layer),
        mac,
        bond: bond::read(root, CLASS, folder),
        ipoib_mode: bond::ipoib_mode(root, folder, &link_layer),
        queueing: Known::default(),
        link_layer,
        driver: match device {
            Ok(_) => driver.into(),
            Err(_) => Known::unknown(NO_DEVICE),
        },
        firmware: firmware(root, folder),
        speed_mbit_s: speed(root, folder, &up),
        duplex: duplex(root, folder, &up),
        mtu: root.value(file("mtu")).into(),
        up,
        state,
        master: root.link_name(file("master")).ok(),
        lower: files.iter().filter_map(|name| name.strip_prefix("lower_")).map(str::to_owned).collect(),
        networks: Known::default(),
        rx_queues: count("rx-"),
        tx_queues: count("tx-"),
        irq_cpus,
        port: pci.known().and_then(|_| root.value(file("dev_port")).ok()),
        pci,
    }
}

/// Many kernels tell no speed of IPoIB interfaces. The rate of the port is the number that the others tell: the
/// signalling rate up to FDR (Linux drivers/infiniband/ulp/ipoib/ipoib_ethtool.c).
pub(crate) fn take_speeds_of_ports(nics: &mut Known<Vec<Nic>>, hcas: &Known<Vec<Hca>>) {
    let (Known::Known(nics), Known::Known(hcas)) = (nics, hcas) else { return };
    for nic in nics.iter_mut().filter(|nic| !nic.speed_mbit_s.is_known() && nic.up == Known::Known(true)) {
        let active = port_of(nic, hcas).filter(|(_, port)| port.is_active() == Known::Known(true));
        if let Some(gbit) = active.and_then(|(_, port)| port.rate_gbit_s.known()) {
            nic.speed_mbit_s = Known::Known((gbit * 1000.0) as u64);
        }
    }
}

/// A card with many queues has a qdisc for each; equal ones are listed once. `shaping` is of the first one.
fn queueing(qdiscs: &[Qdisc], shaping: Option<&Shaping>) -> Vec<Queueing> {
    let mut all: Vec<Queueing> = Vec::new();
    for qdisc in qdiscs {
        let shaping = shaping.filter(|shaping| qdisc.is_root && shaping.kind == qdisc.kind);
        let own = qdisc.rate.map(|rate| rate.bytes_per_second);
        let one = Queueing {
            kind: qdisc.kind.clone(),
            root: qdisc.is_root,
            rate_bytes_per_second: own.or(shaping.and_then(|shaping| shaping.bytes_per_second)),
            flow_rate_bytes_per_second: shaping.and_then(|shaping| shaping.flow_bytes_per_second),
            overhead_bytes: qdisc.rate.map_or(0, |rate| rate.overhead),
        };
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// IP tunnels have an empty address file.
fn mac(root: &SysRoot, path: &str) -> Known<String> {
    Known::from(root.text(path)).and_then(|mac| match mac.is_empty() {
        true => Known::unknown("it has none"),
        false => Known::Known(mac),
    })
}

/// ARP hardware type (linux/if_arp.h) as a word.
fn link_layer(root: &SysRoot, folder: &str) -> Known<String> {
    Known::from(root.value::<u32>(format!("{folder}/type"))).map(|number| match number {
        1 => "ethernet".to_owned(),
        32 => "infiniband".to_owned(),
        772 => "loopback".to_owned(),
        65_534 => "none".to_owned(),
        other => format!("type {other}"),
    })
}

/// The permanent MAC address. The bonding driver keeps it for members, which have the bond's; else `addr_assign_type`
/// tells: 0 permanent, 1 random, 2 taken from another, 3 set by the user.
fn permanent_mac(
    root: &SysRoot,
    folder: &str,
    mac: &Known<String>,
    link_layer: &Known<String>,
) -> Known<String> {
    if let Ok(own) = root.text(format!("{folder}/bonding_slave/perm_hwaddr")) {
        return Known::Known(own);
    }
    Known::from(root.value::<u32>(format!("{folder}/addr_assign_type"))).and_then(|kind| match kind {
        0 => mac.as_ref().and_then(|mac| match mac.as_str() {
            empty if empty.bytes().all(|byte| matches!(byte, b'0' | b':')) => Known::unknown("it has none"),
            // 20 bytes of IP over InfiniBand (RFC 4391, 9.1.1): queue pair and subnet change, the GUID stays.
            long if link_layer.known().is_some_and(|layer| layer == "infiniband") => {
                Known::Known(long.get(long.len().saturating_sub(23)..).unwrap_or(long).to_owned())
            }
            mac => Known::Known(mac.to_owned()),
        }),
        1 => Known::unknown("the address in use is random"),
        2 => Known::unknown("the address in use is another interface's"),
        3 => Known::unknown("the address in use was set by the user"),
        other => Known::unknown(format!("{folder}/addr_assign_type holds {other}, expected 0 to 3")),
    })
}

/// Drivers that do not know report -1, old ones unsigned in 32 bits.
fn speed(root: &SysRoot, folder: &str, up: &Known<bool>) -> Known<u64> {
    let path = format!("{folder}/speed");
    match root.value::<i64>(&path) {
        Ok(-1 | 0 | 65_535 | 4_294_967_295) => Known::unknown("the driver does not tell a speed"),
        Ok(mbit @ 1..=MOST_MBIT_S) => Known::Known(mbit.unsigned_abs()),
        Ok(other) => {
            Known::unknown(ReadError::garbage(&path, &other.to_string(), "a speed in Mbit/s").to_string())
        }
        Err(error) => Known::Unknown(refused(error, up)),
    }
}

/// EINVAL: the interface is down, or lacks the property.
fn refused(error: ReadError, up: &Known<bool>) -> String {
    match (error, up) {
        (ReadError::Unreadable { .. }, Known::Known(true)) => "it has none".to_owned(),
        (ReadError::Unreadable { .. }, Known::Known(false)) => "the interface is down".to_owned(),
        (error, _) => error.to_string(),
    }
}

fn duplex(root: &SysRoot, folder: &str, up: &Known<bool>) -> Known<String> {
    let path = format!("{folder}/duplex");
    match root.text(&path) {
        Ok(word) if word == "full" || word == "half" => Known::Known(word),
        Ok(word) if word == "unknown" => Known::unknown("the driver does not tell it"),
        Ok(word) => Known::unknown(ReadError::garbage(&path, &word, "full or half").to_string()),
        Err(error) => Known::Unknown(refused(error, up)),
    }
}

/// Some drivers (loopback, tun) always report `unknown`; then the carrier decides (Linux Documentation:
/// networking/operstates.rst).
fn up(root: &SysRoot, folder: &str, state: &Known<String>) -> Known<bool> {
    state.as_ref().and_then(|state| match state.as_str() {
        "up" => Known::Known(true),
        "unknown" => match root.value::<u32>(format!("{folder}/carrier")) {
            Ok(carrier) => Known::Known(carrier == 1),
            // The carrier of a disabled interface is unreadable.
            Err(ReadError::Unreadable { .. }) => Known::Known(false),
            Err(error) => Known::unknown(error.to_string()),
        },
        "down" | "dormant" | "lowerlayerdown" | "notpresent" | "testing" => Known::Known(false),
        other => Known::unknown(format!("the state {other:?} is unknown to Seatrial")),
    })
}

/// RDMA devices have the version in a file; others need ethtool.
fn firmware(root: &SysRoot, folder: &str) -> Known<String> {
    let rdma = format!("{folder}/device/infiniband");
    let devices = root.list(&rdma).unwrap_or_default();
    match devices.first() {
        Some(device) => root.text(format!("{rdma}/{device}/fw_ver")).into(),
        None => Known::unknown("the kernel does not report it"),
    }
}

fn contradictions(at: &mut Reading<'_>, nic: &Nic) {
    let subject = format!("nic:{}", nic.name);
    if let Some(mtu) = nic.mtu.known().filter(|&&mtu| mtu > MOST_OF_IP) {
        at.remark(&subject, format!("an MTU of {mtu} bytes is larger than an IP packet can be"));
    }
    if nic.master.as_ref() == Some(&nic.name) || nic.lower.contains(&nic.name) {
        at.remark(&subject, "it is listed as its own lower interface");
    }
    if nic.duplex.known().is_some_and(|duplex| duplex == "half") && !nic.kind.is_virtual() {
        at.remark(&subject, "it runs at half duplex, usually after a failed auto-negotiation");
    }
    let claims = nic.speed_mbit_s.is_known() && nic.up == Known::Known(false);
    if claims && nic.kind == NicKind::Physical {
        at.remark(&subject, "it reports a speed and is not up");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_classes_let_through_is_told_of_the_discipline_that_comes_first() {
        let qdisc = |kind: &str, is_root| Qdisc { kind: kind.to_owned(), is_root, ..Qdisc::default() };
        let all = [qdisc("htb", true), qdisc("htb", false), qdisc("pfifo", false)];
        let shaping =
            Shaping { kind: "htb".to_owned(), bytes_per_second: Some(1000), flow_bytes_per_second: Some(10) };
        let told = |shaping| -> Vec<(Option<u64>, Option<u64>)> {
            let queues = queueing(&all, shaping);
            queues.iter().map(|it| (it.rate_bytes_per_second, it.flow_rate_bytes_per_second)).collect()
        };
        assert_eq!(told(Some(&shaping)), [(Some(1000), Some(10)), (None, None), (None, None)]);
        let other = Shaping { kind: "fq".to_owned(), ..shaping };
        assert_eq!(told(Some(&other)), [(None, None); 3], "it was another one a moment ago");
        assert_eq!(told(None), [(None, None); 3]);
    }
}
