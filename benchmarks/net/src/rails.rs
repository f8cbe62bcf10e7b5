//! Several interfaces of both nodes that are used together, called rails.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial_bench::Endpoint;
use seatrial_bench::interfaces::{CROSS, leaves_the_node, share_a_network};
use seatrial_model::machine::Nic;
use seatrial_model::{
    Better, Bound, Case, Cause, Kind, ParamSpec, Params, PartPlacement, Reason, Site, SiteNode,
};
use socket2::SockRef;

pub const RAILS: ParamSpec = ParamSpec::new("rails", Kind::Text, "none").word("none").doc(
    "Interfaces of both nodes that the flows are distributed over round-robin, such as eth0+eth1, or their number, such as \
     2: cards of one speed that both nodes have under one name; eth0:eth1+eth1:eth0 crosses over to other interfaces of the \
     second node; cross: all such cards, each to the next one of the second node; none uses only `interface`.",
);

/// Interface names of a rail, at the first and at the second node.
pub type Rail = [String; 2];

/// Interface names that the parameters ask for on the nodes of `site`; empty if there is only one path.
pub fn asked(params: &Params, site: &Site) -> Result<Vec<Rail>, Reason> {
    let word = params.text(RAILS.name).unwrap_or("none");
    match (word, word.parse::<usize>()) {
        ("none", _) => Ok(Vec::new()),
        (CROSS, _) => crossed(site),
        (_, Ok(count)) => alike(count, site),
        // A comma on the command line would be a sweep over several values.
        (list, Err(_)) => Ok(list.split(['+', ',']).map(rail).collect()),
    }
}

/// `eth0` is one name at both nodes, `eth0:eth1` a name at each.
fn rail(word: &str) -> Rail {
    let (here, there) = word.split_once(':').unwrap_or((word, word));
    [here, there].map(|name| name.trim().to_owned())
}

/// Interface names of a planned case; empty if there is only one path.
pub fn of(case: &Case) -> Vec<Rail> {
    let is_one_path = case.params.text(RAILS.name).unwrap_or("none") == "none";
    let names = ENDS.map(|end| {
        let names = case.planned.text(end).ok().filter(|_| !is_one_path);
        names.into_iter().flat_map(|names| names.split('+')).map(str::to_owned)
    });
    let [here, there] = names;
    here.zip(there).map(<[String; 2]>::from).collect()
}

/// Those of the end at `place`, which is the first or the second part.
pub fn at(case: &Case, place: &PartPlacement) -> Vec<String> {
    let is_first = place.index == 0;
    of(case).into_iter().map(|[here, there]| if is_first { here } else { there }).collect()
}

/// Whether a rail of the first node is measured to another one of the second.
pub fn are_crossed(case: &Case) -> bool {
    of(case).iter().any(|[here, there]| here != there)
}

/// The end of a crossed rail: only what comes in at its own interface is taken. Without that, a node answers for the address
/// of one interface at the other one (arp_ignore in the kernel's ip-sysctl), and separate rails would seem to be joined.
pub fn strict(endpoint: Endpoint) -> Endpoint {
    let (interface, others) = (endpoint.interface.clone(), Arc::clone(&endpoint.options));
    let options = move |socket: SockRef<'_>| {
        socket.bind_device(interface.as_ref().map(String::as_bytes))?;
        others(socket)
    };
    Endpoint { options: Arc::new(options), ..endpoint }
}

/// What the names of each node's end are planned as.
const ENDS: [&str; 2] = ["interface", "peer_interface"];

/// The first `count` cards of the fastest speed of which both nodes have so many.
fn alike(count: usize, site: &Site) -> Result<Vec<Rail>, Reason> {
    if count == 0 {
        return Err(Reason::new(Cause::Contradiction, "rails=0: rails are one interface or more"));
    }
    let names = of_one_speed(count, site).map_err(|text| inapplicable(&count.to_string(), &text))?;
    Ok(names[..count].iter().map(|name| rail(name)).collect())
}

/// All cards of the fastest speed of which both nodes have two, each with the next one of the second node.
fn crossed(site: &Site) -> Result<Vec<Rail>, Reason> {
    let names = of_one_speed(2, site).map_err(|text| inapplicable(CROSS, &text))?;
    let next = names.iter().cycle().skip(1);
    Ok(names.iter().zip(next).map(|(own, next)| [own.clone(), next.clone()]).collect())
}

fn inapplicable(word: &str, text: &str) -> Reason {
    Reason::new(Cause::Inapplicable, format!("rails={word}: {text}"))
}

/// The cards of the fastest speed of which both nodes have `count` or more, or why there are none.
fn of_one_speed(count: usize, site: &Site) -> Result<Vec<String>, String> {
    let [first, second, ..] = site.nodes.as_slice() else {
        return Err(ALONE.to_owned());
    };
    let cards = |node: &'_ SiteNode| -> Vec<Nic> {
        let all = node.machine.nics.listed().iter();
        // A bond or a VLAN is made of others.
        let is_card =
            |nic: &&Nic| nic.lower.is_empty() && nic.master.is_none() && leaves_the_node(nic, &node.machine);
        all.filter(is_card).cloned().collect()
    };
    let theirs = cards(second);
    let mut by_speed: BTreeMap<Option<u64>, Vec<String>> = BTreeMap::new();
    for nic in cards(first) {
        let is_peer = |other: &&Nic| other.name == nic.name && other.speed_mbit_s == nic.speed_mbit_s;
        if theirs.iter().find(is_peer).is_some_and(|other| share_a_network(&nic, other)) {
            by_speed.entry(nic.speed_mbit_s.known().copied()).or_default().push(nic.name);
        }
    }
    if let Some(names) = by_speed.values().rev().find(|names| names.len() >= count) {
        return Ok(names.clone());
    }
    let all: Vec<&str> = by_speed.values().rev().flatten().map(String::as_str).collect();
    let (most, all) = (by_speed.values().map(Vec::len).max().unwrap_or(0), all.join(", "));
    let text = format!(
        "{} and {} have at most {most} cards of one speed, name and network ({all})",
        first.name, second.name
    );
    Err(text.replace(" ()", ""))
}

const ALONE: &str = "one node alone has only the loopback; name two nodes with -w";

pub fn rail_of(flow: u32, rails: usize) -> usize {
    flow as usize % rails.max(1)
}

/// Interfaces of each rail at both ends, as far as the nodes' inventories are known.
pub fn interfaces<'a>(
    rails: &[Rail],
    params: &Params,
    site: &'a Site,
) -> Result<Vec<[Option<&'a Nic>; 2]>, Reason> {
    let list = word(rails);
    let refuse = |cause: Cause, text: &str| Err(Reason::new(cause, format!("rails={list}: {text}")));
    let [first, second, ..] = site.nodes.as_slice() else {
        return refuse(Cause::Missing, ALONE);
    };
    if params.text("interface").is_ok_and(|name| name != "auto") {
        return refuse(Cause::Contradiction, "interface= names a different path; leave it out");
    }
    let is_twice = |(at, rail): (usize, &Rail)| {
        rails[..at].iter().any(|other| other[0] == rail[0] || other[1] == rail[1])
    };
    if rails.iter().enumerate().any(is_twice) || rails.iter().flatten().any(String::is_empty) {
        return refuse(Cause::Contradiction, "list different interfaces, such as eth0+eth1");
    }
    let mut all = Vec::new();
    for rail in rails {
        let mut both = [None, None];
        for ((at, node), name) in [first, second].into_iter().enumerate().zip(rail) {
            let Some(nics) = node.machine.nics.known() else { continue };
            both[at] = nics.iter().find(|nic| nic.name == *name);
            if both[at].is_none() {
                let names: Vec<&str> = nics.iter().map(|nic| nic.name.as_str()).collect();
                let text = format!("{} has no interface {name}; it has {}", node.name, names.join(", "));
                return refuse(Cause::Inapplicable, &text);
            }
        }
        all.push(both);
    }
    Ok(all)
}

/// Notes in the case that several interfaces carry it, so that no single one is planned.
pub fn plan(case: &mut Case, rails: &[Rail]) {
    for (at, end) in ENDS.into_iter().enumerate() {
        let names: Vec<&str> = rails.iter().map(|rail| rail[at].as_str()).collect();
        case.planned.set(end, names.join("+").as_str());
    }
}

/// The rails as they are typed.
pub fn word(rails: &[Rail]) -> String {
    let word = |[here, there]: &Rail| if here == there { here.clone() } else { format!("{here}:{there}") };
    rails.iter().map(word).collect::<Vec<_>>().join("+")
}

/// The bounds `of_path` of the case, or the sum of those of its rails.
pub fn limits(
    case: &Case,
    site: &Site,
    of_path: impl Fn(&Case, &Site) -> Result<Vec<Bound>, String>,
) -> Result<Vec<Bound>, String> {
    let rails = of(case);
    if rails.is_empty() {
        return of_path(case, site);
    }
    let of_rail = |rail: Rail| {
        let bounds = of_path(&only(case, &rail), site);
        (word(&[rail]), bounds)
    };
    sum(rails.into_iter().map(of_rail).collect())
}

fn only(case: &Case, rail: &Rail) -> Case {
    let mut case = case.clone();
    plan(&mut case, std::slice::from_ref(rail));
    case
}

fn sum(rails: Vec<(String, Result<Vec<Bound>, String>)>) -> Result<Vec<Bound>, String> {
    let tightest = |(name, bounds): (String, Result<Vec<Bound>, String>)| {
        let tightest = Bound::tightest(&bounds?, Better::Higher).cloned();
        tightest.ok_or_else(|| format!("nothing bounds {name}"))
    };
    Ok(vec![Bound::sum(&rails.into_iter().map(tightest).collect::<Result<Vec<_>, String>>()?)?])
}
