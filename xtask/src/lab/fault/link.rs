//! Faults of a node's link, on both of its ends: `eth0` in the node, and the bridge's port that leads to the node.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::super::call::{fed, output};
use super::super::net::{INTERFACE, MTU, ip};
use super::super::process::Process;
use super::super::space::{in_network, start_process};
use super::super::state::{Host, Lab};
use super::Fault;

/// What a fault counted in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Frames that came to the fault.
    pub seen: u64,
    /// Of them, frames that it dropped.
    pub dropped: u64,
}

/// The table of nftables that holds a drop, one at each end of the link.
const TABLE: &str = "lab_drop";

/// More than any chain of segments has: the kernel's own limit, `GSO_MAX_SEGS`.
const MANY_SEGMENTS: u32 = 65535;

/// The two ends of a link as (host, interface there), the node's first.
fn ends<'a>(lab: &'a Lab, node: &'a Host) -> [(&'a Host, &'a str); 2] {
    [(node, INTERFACE), (&lab.head, &node.name)]
}

/// Applies a fault of the link, in the place of one of its kind.
///
/// # Errors
/// When the kernel refuses.
pub fn apply(lab: &Lab, node: &Host, fault: Fault) -> Result<()> {
    match fault {
        Fault::Rate(bits, _) => {
            // A bucket holds what flows in half a millisecond, for the timer that refills it, and no less than the
            // largest chain of segments that the kernel hands down in one piece.
            let bytes = (bits / 8 / 2000).max(64 << 10);
            for (host, interface) in sides(lab, node, fault).into_iter().flatten() {
                let line = format!(
                    "qdisc replace dev {interface} root tbf rate {bits}bit burst {bytes} latency 50ms\n"
                );
                fed(in_network(host, "tc")?.args(["-batch", "-"]), &line)?;
            }
        }
        Fault::Drop(one_in, _) => {
            for (host, interface) in sides(lab, node, fault).into_iter().flatten() {
                fed(in_network(host, "nft")?.args(["-f", "-"]), &table(&node.name, interface, one_in))?;
            }
            for (host, interface) in ends(lab, node) {
                // Otherwise what is dropped would be a chain of segments, which is up to 64 KiB of one connection.
                ip(host, &format!("link set dev {interface} gso_max_segs 1\n"))?;
            }
        }
        // The bridge's end: the node's loses its carrier and is still "up", as with a real cable.
        Fault::Down => ip(&lab.head, &format!("link set dev {} down\n", node.name))?,
        Fault::Mtu(bytes) => ip(node, &format!("link set dev {INTERFACE} mtu {bytes}\n"))?,
        Fault::Delay(_) | Fault::CpuHog(_) | Fault::FreezeFs => {}
    }
    Ok(())
}

/// How long the program of a long link may take to make its devices.
const START_LIMIT: Duration = Duration::from_secs(20);

/// Makes the link of a node a long one: between the bridge's port and the bridge stand a bridge of their own and a process that
/// carries frames from one to the other, `micros` later.
///
/// # Errors
/// When the process does not start, or the kernel refuses.
pub fn lengthen(lab: &Lab, node: &Host, micros: u32) -> Result<Process> {
    let (port, [middle, near, far]) = (&node.name, long_link(node));
    let program = std::env::current_exe().context("this program has no path")?;
    let micros = format!("--micros={micros}");
    let line =
        [program.as_os_str(), "lab".as_ref(), "carry".as_ref(), micros.as_ref(), near.as_ref(), far.as_ref()];
    let process = start_process(lab, &lab.head.name, &format!("delay-{port}"), &line)?;
    let joined = || -> Result<()> {
        let started = Instant::now();
        while !(exists(&lab.head, &near) && exists(&lab.head, &far)) {
            ensure!(process.is_alive() && started.elapsed() < START_LIMIT, "its process makes no devices");
            std::thread::sleep(Duration::from_millis(10));
        }
        let join = |device: &str, bridge: &str| {
            format!("link set dev {device} mtu {MTU} txqueuelen {QUEUED} master {bridge} up\n")
        };
        let lines = [
            format!("link add {middle} mtu {MTU} type bridge\n"),
            join(&near, &middle),
            join(&far, BRIDGE),
            format!("link set dev {middle} up\nlink set dev {port} master {middle}\n"),
        ];
        ip(&lab.head, &lines.concat())
    };
    // One that is not written down would stay.
    joined().inspect_err(|_| drop(process.kill()))?;
    Ok(process)
}

/// The bridge of the first rail, which has the faults.
const BRIDGE: &str = "br0";

/// Frames that wait for the process: as many as it holds bytes of.
const QUEUED: u32 = 10_000;

/// The devices of a long link: a bridge, and the two ends of the process, that on this bridge first.
fn long_link(node: &Host) -> [String; 3] {
    ["m", "a", "b"].map(|end| format!("{}-{end}", node.name))
}

fn exists(host: &Host, interface: &str) -> bool {
    let show = in_network(host, "ip").and_then(|mut ip| output(ip.args(["link", "show", "dev", interface])));
    show.is_ok()
}

/// Takes a fault of the link away. One that is not there, or only at one end, is no error.
///
/// # Errors
/// When the kernel refuses.
pub fn heal(lab: &Lab, node: &Host, fault: Fault) -> Result<()> {
    match fault {
        Fault::Rate(..) => {
            for (host, interface) in sides(lab, node, fault).into_iter().flatten() {
                if qdisc(host, interface)?.is_some() {
                    output(in_network(host, "tc")?.args(["qdisc", "delete", "dev", interface, "root"]))?;
                }
            }
        }
        Fault::Drop(..) => {
            for (host, interface) in ends(lab, node) {
                let name = table_name(&node.name);
                // Declared once more, so that there is one to delete.
                fed(
                    in_network(host, "nft")?.args(["-f", "-"]),
                    &format!("table netdev {name}\ndelete table netdev {name}\n"),
                )?;
                ip(host, &format!("link set dev {interface} gso_max_segs {MANY_SEGMENTS}\n"))?;
            }
        }
        Fault::Down => ip(&lab.head, &format!("link set dev {} up\n", node.name))?,
        Fault::Mtu(_) => ip(node, &format!("link set dev {INTERFACE} mtu {MTU}\n"))?,
        Fault::Delay(_) => {
            // Its process is gone, and the devices with it.
            let [middle, ..] = long_link(node);
            ip(&lab.head, &format!("link set dev {} master {BRIDGE}\n", node.name))?;
            if exists(&lab.head, &middle) {
                ip(&lab.head, &format!("link delete dev {middle}\n"))?;
            }
        }
        Fault::CpuHog(_) | Fault::FreezeFs => {}
    }
    Ok(())
}

/// What a fault counted since it was applied: frames to the node, then frames from it. None for faults that count
/// nothing.
///
/// # Errors
/// When tc or nft do not answer.
pub fn counters(lab: &Lab, node: &Host, fault: Fault) -> Result<Option<[Counter; 2]>> {
    let read = |(host, interface): (&Host, &str)| match fault {
        Fault::Rate(..) => qdisc(host, interface),
        Fault::Drop(..) => dropped(host, &node.name),
        _ => Ok(None),
    };
    let [to, from] = sides(lab, node, fault).map(|end| end.map_or(Ok(Some(Counter::default())), read));
    Ok(to?.zip(from?).map(|(to, from)| [to, from]))
}

/// The ends that have the fault of what flows to the node and of what flows from there, as far as it is of that direction: a
/// drop works on what comes in, a rate on what goes out.
fn sides<'a>(lab: &'a Lab, node: &'a Host, fault: Fault) -> [Option<(&'a Host, &'a str)>; 2] {
    let [own, port] = ends(lab, node);
    let (ends, way) = match fault {
        Fault::Rate(_, way) => ([port, own], way),
        Fault::Drop(_, way) => ([own, port], way),
        // They count nothing.
        _ => return [Some(own), Some(port)],
    };
    let [to, from] = way.has();
    [to.then_some(ends[0]), from.then_some(ends[1])]
}

fn table_name(node: &str) -> String {
    format!("{TABLE}_{node}")
}

/// Drops the first frame of every `one_in`, of what comes in on an interface, whatever it carries.
fn table(node: &str, interface: &str, one_in: u32) -> String {
    let name = table_name(node);
    format!(
        "table netdev {name}\n\
         delete table netdev {name}\n\
         table netdev {name} {{\n\
         counter seen {{ }}\n\
         counter dropped {{ }}\n\
         chain incoming {{\n\
         type filter hook ingress device \"{interface}\" priority 0;\n\
         counter name seen\n\
         numgen inc mod {one_in} == 0 counter name dropped drop\n\
         }}\n\
         }}\n"
    )
}

/// What our shaper on an interface counted; none when there is none.
fn qdisc(host: &Host, interface: &str) -> Result<Option<Counter>> {
    let text = output(in_network(host, "tc")?.args(["-s", "-json", "qdisc", "show", "dev", interface]))?;
    let list: Value = serde_json::from_str(&text).context("tc wrote no JSON")?;
    let shaper = list.as_array().into_iter().flatten().find(|qdisc| qdisc["kind"] == "tbf");
    let counter = |shaper: &Value| {
        // tc counts what passed.
        let (passed, dropped) = (shaper["packets"].as_u64()?, shaper["drops"].as_u64()?);
        Some(Counter { seen: passed + dropped, dropped })
    };
    shaper.map(|shaper| counter(shaper).context("tc counts no packets")).transpose()
}

fn dropped(host: &Host, node: &str) -> Result<Option<Counter>> {
    let name = table_name(node);
    let text =
        output(in_network(host, "nft")?.args(["--json", "list", "counters", "table", "netdev", &name]))?;
    let list: Value = serde_json::from_str(&text).context("nft wrote no JSON")?;
    let count = |name: &str| {
        let mut counters = list["nftables"].as_array()?.iter().filter_map(|entry| entry.get("counter"));
        counters.find(|counter| counter["name"] == name)?["packets"].as_u64()
    };
    let counter = count("seen").zip(count("dropped"));
    Ok(Some(counter.map(|(seen, dropped)| Counter { seen, dropped }).context("nft counts nothing")?))
}
