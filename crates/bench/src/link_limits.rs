//! What the interfaces between two ends let through of a protocol's payload.

use seatrial_inventory::{Links, Load, nic_limit_under};
use seatrial_model::machine::{Known, Nic, NicKind};
use seatrial_model::setting::Present;
use seatrial_model::{Better, Bound, Case, Limit, Quantity, Site, Value};

use super::ends;
use super::goodput::{Framing, Goodput, Ip, Transport};
use crate::Direction;

/// Bounds on the payload that gets one way: those of both ends' interfaces, times what `goodput` says that headers and
/// gaps leave of them for this framing, this IP and this MTU, and those of shapers that it passes on its way out. `who`
/// names what takes the path, with its verb.
///
/// # Errors
/// Why nothing bounds it, or why that is not known.
pub fn bounds(
    case: &Case,
    site: &Site,
    who: &str,
    goodput: impl FnOnce(Framing, Ip, u64) -> Result<Goodput, String>,
) -> Result<Vec<Bound>, String> {
    if case.nodes.len() == 1 {
        return Err("the loopback has no link rate; CPU and memory limit it".to_owned());
    }
    let Some(interfaces) = ends::interfaces(case, site) else {
        return Err(format!("it is not known which interfaces {who}; name them with -p interface="));
    };
    let mtu =
        [interfaces.first, interfaces.second].into_iter().map(|nic| nic.mtu.known().copied()).min().flatten();
    let mtu = mtu.ok_or("the MTU of an interface is not known")?;
    // Somebody may have asked for smaller packets.
    let mtu = case.params.count("mtu").map_or(mtu, |asked| mtu.min(asked));
    let ip = if speaks_ipv4(interfaces.first) && speaks_ipv4(interfaces.second) { Ip::V4 } else { Ip::V6 };
    let ends = [End::of(case, site, 0, interfaces.first), End::of(case, site, 1, interfaces.second)];
    let goodput = goodput(framing(interfaces.first, ends[0].links.nics), ip, mtu)?;
    let flows = case.params.count("flows").ok();
    let directions = Direction::of_case(case);
    let mut bounds = Vec::new();
    let mut shaped: Vec<Vec<Bound>> = Vec::new();
    for (index, end) in ends.iter().enumerate() {
        let sends = match directions {
            [direction] => Some(direction.is_sender(index as u32)),
            _ => None,
        };
        let named =
            |payload: Bound| Bound { formula: format!("{}: {}", end.name, payload.formula), ..payload };
        // A path is as wide as its narrowest end, so that the other end alone still bounds it.
        if let Limit::Chain(chain) = nic_limit_under(end.nic, end.links, Load { flows, sends }) {
            let payload = |bound: &Bound| goodput.within(bound, bound.provenance.starts_with("pcie"));
            bounds.extend(chain.iter().map(payload).map(named));
        }
        // A shaper holds back what is sent. What comes in has passed those of others, which nobody here sees.
        if sends != Some(false) {
            // What MPTCP calls one flow is several to the queue.
            let flows = flows.filter(|_| case.params.text("protocol") != Ok("mptcp"));
            shaped.push(end.shapers(&goodput, flows).into_iter().map(named).collect());
        }
    }
    // Of two directions each has a shaper of its own. What bounds both is the wider one, and none where one has none.
    bounds.extend(match shaped.as_slice() {
        [one] => one.clone(),
        all => {
            let each = all.iter().map(|end| Bound::tightest(end, Better::Higher)).collect::<Option<Vec<_>>>();
            Bound::tightest(each.unwrap_or_default(), Better::Lower).cloned().into_iter().collect()
        }
    });
    match (bounds.is_empty(), nic_limit_under(interfaces.first, ends[0].links, Load { flows, sends: None })) {
        (true, Limit::Unknown { reason }) => Err(format!("{}: {reason}", interfaces.first.name)),
        _ => Ok(bounds),
    }
}

/// The same of the payload of TCP's connections.
///
/// # Errors
/// Why nothing bounds it, or why that is not known.
pub fn tcp(case: &Case, site: &Site) -> Result<Vec<Bound>, String> {
    let transport = Transport::Tcp { timestamps: timestamps(case, site) };
    bounds(case, site, "the connection takes", |framing, ip, mtu| {
        Goodput::of(framing, ip, transport, mtu)
            .ok_or_else(|| format!("an MTU of {mtu} leaves no room for payload"))
    })
}

/// Whether segments carry timestamps: both ends must want them, and it is the default.
fn timestamps(case: &Case, site: &Site) -> bool {
    let off = |node: &String| {
        let mut readings = site.settings(node).iter();
        let reading = readings.find(|reading| reading.setting.ends_with("tcp_timestamps"));
        reading.is_some_and(|reading| matches!(&reading.present, Present::Value(Value::Count(0))))
    };
    !case.nodes.iter().any(off)
}

/// An end of the path.
struct End<'a> {
    name: String,
    nic: &'a Nic,
    /// Those of its machine.
    links: Links<'a>,
}

impl<'a> End<'a> {
    fn of(case: &Case, site: &'a Site, index: usize, nic: &'a Nic) -> Self {
        let node = case.nodes.get(index).map_or("", String::as_str);
        let links = site.machine(node).map(Links::of).unwrap_or_default();
        Self { name: format!("{node}/{}", nic.name), nic, links }
    }

    /// What the shapers let through that packets of so many flows pass on their way out: that of the interface, and of
    /// what it stands on.
    fn shapers(&self, goodput: &Goodput, flows: Option<u64>) -> Vec<Bound> {
        let mut found = Vec::new();
        for nic in chain(self.nic, self.links.nics) {
            let queues = nic.queueing.listed().iter().filter(|queue| queue.root);
            for queue in queues {
                let shaped = |rate: u64| {
                    let bound = goodput.shaped(&queue.kind, rate, queue.overhead_bytes);
                    Bound { formula: format!("{} of {}, {}", queue.kind, nic.name, bound.formula), ..bound }
                };
                found.extend(queue.rate_bytes_per_second.map(shaped));
                found.extend(queue.flow_rate_bytes_per_second.zip(flows).map(|(rate, flows)| {
                    let one = shaped(rate);
                    let value = Quantity::new(one.value.value() * flows as f64, one.value.unit());
                    let value = value.expect("a finite number times a number of flows");
                    Bound { value, formula: format!("{flows} flows x {}", one.formula), ..one }
                }));
            }
        }
        found
    }
}

/// An interface and those that it stands on, one below the other. A bond ends it: its members are beside each other.
fn chain<'a>(nic: &'a Nic, all: &'a [Nic]) -> Vec<&'a Nic> {
    let mut found = vec![nic];
    // No more than there are, should a machine claim that they stand on each other in a circle.
    while found.len() <= all.len()
        && let Some(last) = found.last()
        && matches!(last.kind, NicKind::Vlan | NicKind::Macvlan)
        && let Some(below) = all.iter().find(|other| last.lower.first() == Some(&other.name))
    {
        found.push(below);
    }
    found
}

/// The same of so many directions together.
pub fn times(bounds: &[Bound], directions: usize) -> Vec<Bound> {
    let times = |value: Quantity| {
        Quantity::new(value.value() * directions as f64, value.unit())
            .expect("a finite number times a small one")
    };
    let scaled = |bound: &Bound| Bound {
        value: times(bound.value),
        formula: format!("{directions} directions x {}", bound.formula),
        provenance: bound.provenance.clone(),
        nominal: bound.nominal.map(times),
    };
    if directions == 1 { bounds.to_vec() } else { bounds.iter().map(scaled).collect() }
}

/// Connections are tried by IPv4 first. An end of which no networks are known may have it: the bound is then the wider.
fn speaks_ipv4(nic: &Nic) -> bool {
    nic.networks.known().is_none_or(|networks| networks.iter().any(|network| network.contains('.')))
}

/// What its packets are framed in.
pub fn framing(nic: &Nic, all: &[Nic]) -> Framing {
    let chain = chain(nic, all);
    let infiniband =
        chain.iter().find(|nic| nic.link_layer.known().is_some_and(|layer| layer == "infiniband"));
    match infiniband {
        Some(Nic { ipoib_mode: Some(Known::Known(mode)), .. }) if mode == "connected" => {
            Framing::InfinibandConnected
        }
        Some(_) => Framing::Infiniband,
        None => {
            let tags = chain.iter().filter(|nic| nic.kind == NicKind::Vlan).count();
            Framing::Ethernet { tags: u32::try_from(tags).unwrap_or(0) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::{Machine, Queueing};
    use seatrial_model::{Params, SiteNode};

    use crate::Ends;

    fn nic(name: &str, kind: NicKind, mbit: u64) -> Nic {
        Nic {
            name: name.to_owned(),
            kind,
            up: Known::Known(true),
            mtu: Known::Known(1500),
            speed_mbit_s: Known::Known(mbit),
            networks: Known::Known(vec!["10.0.0.0/16".to_owned()]),
            link_layer: Known::Known("ethernet".to_owned()),
            ..Nic::default()
        }
    }

    /// An interface with a token bucket of so many Mbit/s.
    fn shaped(nic: Nic, mbit: u64) -> Nic {
        let queue = Queueing {
            kind: "tbf".to_owned(),
            root: true,
            rate_bytes_per_second: Some(mbit * 125_000),
            ..Queueing::default()
        };
        Nic { queueing: Known::Known(vec![queue]), ..nic }
    }

    /// Provenance and Gbit/s of what bounds UDP in this direction between two nodes with these interfaces.
    fn bound(first: Vec<Nic>, second: Vec<Nic>, direction: &str) -> Result<Vec<(String, f64)>, String> {
        let node = |name: &str, nics| {
            SiteNode::new(name, Machine { nics: Known::Known(nics), ..Machine::default() })
        };
        let name = first[0].name.clone();
        let site = Site { nodes: vec![node("n1", first), node("n2", second)] };
        let about = &crate::toy::ABOUT;
        let mut params: Params = about.defaults();
        params.set("direction", direction);
        params.set("interface", name.as_str());
        let budget = crate::budget(&params).expect("a budget");
        let case = Ends::of(&site, &params).expect("ends").case(about, &params, budget);
        let goodput = |framing, ip, mtu| Ok(Goodput::of(framing, ip, Transport::Udp, mtu).expect("fits"));
        let bounds = bounds(&case, &site, "it takes", goodput)?;
        Ok(bounds.into_iter().map(|bound| (bound.provenance, bound.value.value())).collect())
    }

    fn near(found: &[(String, f64)], wanted: &[(&str, f64)]) {
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for ((provenance, value), (wanted_from, wanted)) in found.iter().zip(wanted) {
            assert_eq!(provenance, wanted_from);
            assert!((value - wanted).abs() < 1e-9, "{found:?} is not {wanted}");
        }
    }

    #[test]
    fn a_shaper_bounds_what_its_own_end_sends() {
        let plain = || vec![nic("eth0", NicKind::Veth, 10_000)];
        let slow = || vec![shaped(nic("eth0", NicKind::Veth, 10_000), 100)];
        let slower = || vec![shaped(nic("eth0", NicKind::Veth, 10_000), 50)];
        let udp = 1472.0 / 1514.0;
        near(&bound(slow(), plain(), "forward").expect("bounds"), &[("qdisc tbf", 0.1 * udp)]);
        near(&bound(plain(), slow(), "reverse").expect("bounds"), &[("qdisc tbf", 0.1 * udp)]);
        for (first, second, direction) in
            [(plain(), slow(), "forward"), (slow(), plain(), "reverse"), (slow(), plain(), "both")]
        {
            let why = bound(first, second, direction).expect_err("nothing that it passes");
            assert!(why.contains("virtual device (veth)"), "{why}");
        }
        near(&bound(slow(), slower(), "both").expect("bounds"), &[("qdisc tbf", 0.1 * udp)]);
    }

    #[test]
    fn a_shaper_of_each_flow_bounds_all_of_them_together() {
        let fq = |name: &str| {
            let queue = Queueing {
                kind: "fq".to_owned(),
                root: true,
                flow_rate_bytes_per_second: Some(12_500_000),
                ..Queueing::default()
            };
            Nic { queueing: Known::Known(vec![queue]), ..nic(name, NicKind::Physical, 10_000) }
        };
        let found = bound(vec![fq("eth0")], vec![nic("eth0", NicKind::Physical, 10_000)], "forward");
        // The benchmark's default is one flow.
        let wire = 10.0 * 1472.0 / 1538.0;
        let wanted = [("nic speed", wire), ("nic speed", wire), ("qdisc fq", 0.1 * 1472.0 / 1514.0)];
        near(&found.expect("bounds"), &wanted);
        let goodput = Goodput::of(Framing::Ethernet { tags: 0 }, Ip::V4, Transport::Udp, 1500).expect("fits");
        let nic = fq("eth0");
        let end = End { name: "n1/eth0".to_owned(), nic: &nic, links: Links::default() };
        let four = end.shapers(&goodput, Some(4)).remove(0);
        assert!((four.value.value() - 0.4 * 1472.0 / 1514.0).abs() < 1e-12, "{}", four.value);
        assert!(
            four.formula.starts_with("4 flows x fq of eth0, 100 Mbit/s x 1472 / 1514"),
            "{}",
            four.formula
        );
        assert_eq!(end.shapers(&goodput, None), [], "how many flows there are is not known");
    }

    #[test]
    fn a_vlan_has_a_tag_and_the_wire_and_shaper_of_what_it_stands_on() {
        let host = || {
            let below = shaped(nic("eth0", NicKind::Physical, 10_000), 1000);
            let vlan = Nic { lower: vec!["eth0".to_owned()], ..nic("eth0.5", NicKind::Vlan, 10_000) };
            vec![vlan, below]
        };
        let wire = 10.0 * 1472.0 / 1542.0;
        let wanted = [("nic speed", wire), ("nic speed", wire), ("qdisc tbf", 1472.0 / 1514.0)];
        near(&bound(host(), host(), "forward").expect("bounds"), &wanted);
    }

    #[test]
    fn infiniband_is_framed_by_its_mode() {
        let mode = |word: &str| {
            let ib0 = Nic {
                link_layer: Known::Known("infiniband".to_owned()),
                ipoib_mode: Some(Known::Known(word.to_owned())),
                ..nic("ib0", NicKind::Physical, 56_000)
            };
            framing(&ib0, &[])
        };
        assert_eq!(mode("datagram"), Framing::Infiniband);
        assert_eq!(mode("connected"), Framing::InfinibandConnected);
    }
}
