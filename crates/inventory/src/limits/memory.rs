//! Theoretical memory bandwidth: channels x configured MT/s x 8 B.
//!
//! A DDR3, DDR4 or DDR5 channel moves 64 data bits per transfer (JEDEC JESD79; DDR5 as two halves of 32), without ECC
//! bits. Channels of a socket are interleaved and run at one speed, so the slowest module counts. Firmware does not
//! see dead or badly trained channels: only a measurement proves the bandwidth.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::machine::{Dimm, Dimms, Known, Machine};
use seatrial_model::{Bound, Limit, Unit};

const CHANNEL_BYTES: u64 = 8;

/// The bound for the whole machine.
pub fn memory_bandwidth(machine: &Machine) -> Known<Bound> {
    total(machine).map(|(value, formula, provenance)| bound(value, formula, provenance))
}

/// The limit of the whole machine: its modules at their configured speed, before that at their rated speed and the fastest
/// memory of its processor family, where these are known and allow more. Where the modules are not visible, the highest
/// that the limit can be.
pub fn memory_limit(machine: &Machine) -> Limit {
    match (memory_bandwidth(machine), of_family(machine)) {
        (Known::Known(bound), family) => {
            let looser = [rated(machine), family.known().cloned()].into_iter().flatten();
            let allows_more = |other: &Bound| other.value.base() > bound.value.base();
            let looser: Vec<Bound> = looser.filter(allows_more).collect();
            Limit::Chain([vec![bound], looser].concat())
        }
        (Known::Unknown(reason), Known::Known(bound)) => Limit::AtMost { bound, reason },
        (Known::Unknown(reason), Known::Unknown(_)) => Limit::Unknown { reason },
    }
}

/// The modules at the speed that they are rated for.
fn rated(machine: &Machine) -> Option<Bound> {
    let mut dimms = machine.dimms.known()?.clone();
    dimms.modules.iter_mut().for_each(|dimm| dimm.configured_mts = dimm.rated_mts);
    let virtualization = machine.virtualization.clone();
    let faster = Machine { dimms: Known::Known(dimms), virtualization, ..Machine::default() };
    let bound = memory_bandwidth(&faster).known().cloned()?;
    Some(Bound { provenance: format!("{}, rated speed", bound.provenance), ..bound })
}

/// The fastest memory of the largest processors of the family, in every socket that is visible.
fn of_family(machine: &Machine) -> Known<Bound> {
    machine.cpu.sockets.as_ref().and_then(|&sockets| {
        machine.cpu.family.as_ref().map(|family| {
            let (channels, mts, bytes) = (family.channels, family.mts, family.channel_bytes);
            let noun = if sockets == 1 { "socket" } else { "sockets" };
            let formula =
                format!("{sockets} {noun} x {channels} channels x {mts} MT/s x {bytes} B of {}", family.name);
            let transfers = u64::from(sockets) * u64::from(channels) * u64::from(mts) * 1_000_000;
            bound(transfers * u64::from(bytes), formula, &format!("processor family: {}", family.source))
        })
    })
}

/// The bound for the memory of one NUMA node: an equal share of the machine's. Firmware does not tell the node of a
/// module, so the bound is known only where all nodes have CPUs and every socket has the same number of nodes.
pub fn node_memory_bandwidth(machine: &Machine, node: u32) -> Known<Bound> {
    if machine.node(node).is_none() {
        return Known::unknown(format!("there is no node {node}"));
    }
    let nodes = machine.numa.len() as u64;
    if nodes == 1 {
        return memory_bandwidth(machine);
    }
    if let Some(odd) = machine.numa.iter().find(|node| !node.has_cpus()) {
        return Known::unknown(format!(
            "firmware does not tell which modules belong to node {}, which has no CPUs",
            odd.id
        ));
    }
    machine.cpu.sockets.as_ref().and_then(|&sockets| {
        if sockets == 0 || !nodes.is_multiple_of(sockets.into()) {
            return Known::unknown(format!(
                "{nodes} NUMA nodes cannot be divided evenly over {sockets} sockets"
            ));
        }
        total(machine).and_then(|(value, formula, provenance)| {
            let spread: BTreeSet<u64> = per_socket(machine).into_iter().collect();
            if spread.len() > 1 {
                return Known::unknown(
                    "the sockets have different modules, and firmware does not tell which belong to which \
                     node",
                );
            }
            Known::Known(bound(value / nodes, format!("({formula}) / {nodes} nodes"), provenance))
        })
    })
}

fn bound(bytes_per_second: u64, formula: String, provenance: &str) -> Bound {
    super::bound(bytes_per_second as f64 / 1e9, Unit::GigabytesPerSecond, formula, provenance)
}

#[derive(Default)]
struct Socket<'a> {
    channels: BTreeSet<&'a str>,
    slowest_mts: u64,
}

impl Socket<'_> {
    fn bytes_per_second(&self) -> u64 {
        self.channels.len() as u64 * self.slowest_mts * 1_000_000 * CHANNEL_BYTES
    }
}

fn total(machine: &Machine) -> Known<(u64, String, &'static str)> {
    let virtual_board = machine.virtualization.known().and_then(|v| v.hypervisor.as_ref());
    if let Some(hypervisor) = virtual_board {
        return Known::unknown(format!(
            "a virtual machine ({hypervisor}) does not see the memory modules of its host"
        ));
    }
    machine.dimms.as_ref().and_then(|dimms| {
        sockets(dimms).map(|sockets| {
            let value = sockets.values().map(Socket::bytes_per_second).sum();
            let each = sockets.values().map(|socket| (socket.channels.len(), socket.slowest_mts));
            (value, formula(each), dimms.source.provenance())
        })
    })
}

fn per_socket(machine: &Machine) -> Vec<u64> {
    let sockets = machine.dimms.as_ref().and_then(sockets);
    sockets.known().map_or_else(Vec::new, |s| s.values().map(Socket::bytes_per_second).collect())
}

/// `8 channels x 4800 MT/s x 8 B`, with sockets of one speed together.
fn formula(each: impl Iterator<Item = (usize, u64)>) -> String {
    let mut by_speed: BTreeMap<u64, usize> = BTreeMap::new();
    for (channels, mts) in each {
        *by_speed.entry(mts).or_default() += channels;
    }
    let terms = by_speed.into_iter().map(|(mts, channels)| {
        format!("{channels} {} x {mts} MT/s x 8 B", if channels == 1 { "channel" } else { "channels" })
    });
    terms.collect::<Vec<_>>().join(" + ")
}

/// The channels by socket, the first part of their names (`P0` of `P0 A`); names without socket count as one socket.
fn sockets(dimms: &Dimms) -> Known<BTreeMap<&str, Socket<'_>>> {
    if dimms.modules.is_empty() {
        return Known::unknown("no memory module is listed");
    }
    let mut sockets: BTreeMap<&str, Socket<'_>> = BTreeMap::new();
    for dimm in &dimms.modules {
        let mts = match usable(dimm) {
            Ok(mts) => mts,
            Err(why) => return Known::unknown(format!("module '{}': {why}", dimm.locator)),
        };
        let Some(channel) = dimm.channel.as_deref() else {
            return Known::unknown(format!("the names of module '{}' do not tell its channel", dimm.locator));
        };
        let socket = channel.split(' ').next().filter(|part| part.starts_with('P') && part.len() > 1);
        let socket = sockets.entry(socket.unwrap_or_default()).or_default();
        socket.slowest_mts = if socket.channels.is_empty() { mts } else { socket.slowest_mts.min(mts) };
        socket.channels.insert(channel);
    }
    Known::Known(sockets)
}

/// The configured speed of a module whose channel is 64 bits wide.
fn usable(dimm: &Dimm) -> Result<u64, String> {
    match dimm.kind.as_deref() {
        Some("DDR3" | "DDR4" | "DDR5") | None => {}
        Some(kind) => return Err(format!("the width of a channel of {kind} is unknown")),
    }
    match dimm.data_width_bits {
        Some(64) => {}
        Some(bits) => return Err(format!("a data width of {bits} bits where a channel has 64")),
        None => return Err("the firmware does not tell its data width".to_owned()),
    }
    dimm.configured_mts.map(u64::from).ok_or_else(|| "the firmware does not tell its speed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::{Cpu, NumaNode, ProcessorFamily, Virtualization};

    fn dimm(channel: &str, configured: u32) -> Dimm {
        Dimm {
            locator: channel.to_owned(),
            channel: Some(channel.to_owned()),
            kind: Some("DDR5".to_owned()),
            rated_mts: Some(5600),
            configured_mts: Some(configured),
            data_width_bits: Some(64),
            ..Dimm::default()
        }
    }

    fn machine(modules: Vec<Dimm>) -> Machine {
        let slots = u32::try_from(modules.len()).expect("few");
        Machine { dimms: Known::Known(Dimms { slots, modules, ..Dimms::default() }), ..Machine::default() }
    }

    fn twelve(socket: &str, configured: u32) -> impl Iterator<Item = Dimm> {
        ('A'..='L').map(move |letter| dimm(&format!("{socket} {letter}"), configured))
    }

    fn known(machine: &Machine) -> (String, String) {
        let bound = memory_bandwidth(machine).known().cloned().expect("known");
        (bound.value.to_string(), bound.formula)
    }

    fn why(machine: &Machine) -> String {
        memory_bandwidth(machine).why().expect("unknown").to_owned()
    }

    #[test]
    fn counts_channels_at_the_configured_speed_not_slots_at_the_rated_one() {
        let two_a_channel = twelve("P0", 4800).chain(twelve("P0", 4800)).collect();
        let (value, formula) = known(&machine(two_a_channel));
        assert_eq!((value.as_str(), formula.as_str()), ("460.8 GB/s", "12 channels x 4800 MT/s x 8 B"));
    }

    #[test]
    fn the_slowest_module_sets_the_speed_of_its_socket() {
        let slow = twelve("P0", 4800).chain(twelve("P1", 4800)).chain([dimm("P1 A", 4000)]).collect();
        let (value, formula) = known(&machine(slow));
        assert_eq!(formula, "12 channels x 4000 MT/s x 8 B + 12 channels x 4800 MT/s x 8 B");
        assert_eq!(value, "844.8 GB/s");
    }

    #[test]
    fn does_not_guess() {
        let with = |change: fn(&mut Dimm)| {
            let mut one = dimm("P0 A", 4800);
            change(&mut one);
            why(&machine(vec![one]))
        };
        assert!(with(|dimm| dimm.channel = None).contains("do not tell its channel"));
        assert!(with(|dimm| dimm.configured_mts = None).contains("does not tell its speed"));
        assert!(with(|dimm| dimm.data_width_bits = Some(72)).contains("72 bits"));
        assert!(with(|dimm| dimm.data_width_bits = None).contains("data width"));
        assert!(with(|dimm| dimm.kind = Some("LPDDR5".to_owned())).contains("LPDDR5"));
        assert!(why(&machine(Vec::new())).contains("no memory module"));
        assert_eq!(why(&Machine::default()), "not recorded");
    }

    #[test]
    fn does_not_believe_a_virtual_board() {
        let hypervisor = Some("qemu".to_owned());
        let machine = Machine {
            virtualization: Known::Known(Virtualization { hypervisor, container: None }),
            ..machine(twelve("P0", 4800).collect())
        };
        assert!(why(&machine).contains("qemu"));
    }

    #[test]
    fn a_family_bounds_what_modules_do_not_tell() {
        let family = ProcessorFamily {
            name: "Ice Lake-SP".to_owned(),
            channels: 8,
            mts: 3200,
            channel_bytes: 8,
            source: "a data sheet".to_owned(),
        };
        let cpu = Cpu { sockets: Known::Known(2), family: Known::Known(family), ..Cpu::default() };
        let hidden = Machine { cpu: cpu.clone(), ..Machine::default() };
        let Limit::AtMost { bound, reason } = memory_limit(&hidden) else {
            panic!("{:?}", memory_limit(&hidden))
        };
        assert_eq!(bound.value.to_string(), "409.6 GB/s");
        assert_eq!(bound.formula, "2 sockets x 8 channels x 3200 MT/s x 8 B of Ice Lake-SP");
        assert_eq!(
            (bound.provenance.as_str(), reason.as_str()),
            ("processor family: a data sheet", "not recorded")
        );
        let told = Machine { cpu, ..machine(twelve("P0", 4800).collect()) };
        // The family allows less than the modules, which is then no bound of them; their rated speed allows more.
        let Limit::Chain(bounds) = memory_limit(&told) else { panic!("{:?}", memory_limit(&told)) };
        let told = bounds.iter().map(|bound| (bound.provenance.as_str(), bound.value.to_string()));
        let expected = [("dmi", "460.8 GB/s"), ("dmi, rated speed", "537.6 GB/s")];
        assert_eq!(told.collect::<Vec<_>>(), expected.map(|(name, value)| (name, value.to_owned())));
        assert!(matches!(memory_limit(&Machine::default()), Limit::Unknown { .. }));
    }

    #[test]
    fn nodes_share_alike_or_not_at_all() {
        let node = |id, cpus| NumaNode { id, cpus, ..NumaNode::default() };
        let whole = machine(twelve("P0", 4800).collect());
        let cpu = Cpu { sockets: Known::Known(1), ..Cpu::default() };
        let alike =
            Machine { numa: vec![node(0, vec![0]), node(1, vec![1])], cpu: cpu.clone(), ..whole.clone() };
        let half = node_memory_bandwidth(&alike, 1).known().cloned().expect("known");
        assert_eq!(half.value.to_string(), "230.4 GB/s");
        assert_eq!(half.formula, "(12 channels x 4800 MT/s x 8 B) / 2 nodes");
        let far = Machine { numa: vec![node(0, vec![0]), node(2, vec![])], cpu, ..whole.clone() };
        assert!(node_memory_bandwidth(&far, 0).why().is_some_and(|why| why.contains("node 2")));
        assert!(node_memory_bandwidth(&far, 7).why().is_some_and(|why| why.contains("no node 7")));
        let single = Machine { numa: vec![node(0, vec![0])], ..whole };
        assert_eq!(node_memory_bandwidth(&single, 0), memory_bandwidth(&single));
    }

    #[test]
    fn sockets_with_different_modules_have_no_known_share() {
        let modules = twelve("P0", 4800).chain([dimm("P1 A", 4800)]).collect();
        let node = |id| NumaNode { id, cpus: vec![id], ..NumaNode::default() };
        let cpu = Cpu { sockets: Known::Known(2), ..Cpu::default() };
        let machine = Machine { numa: vec![node(0), node(1)], cpu, ..machine(modules) };
        assert!(memory_bandwidth(&machine).is_known());
        assert!(
            node_memory_bandwidth(&machine, 0).why().is_some_and(|why| why.contains("different modules"))
        );
    }
}
