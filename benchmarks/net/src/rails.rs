//! Several interfaces of both nodes that are used together, called rails.

use seatrial_model::machine::Nic;
use seatrial_model::{Better, Bound, Case, Cause, Kind, ParamSpec, Params, Reason, Site};

pub const RAILS: ParamSpec = ParamSpec::new("rails", Kind::Text, "none").word("none").doc(
    "Interfaces of both nodes that the flows are distributed over round-robin, such as eth0+eth1; none uses \
     only `interface`.",
);

/// Interface names of the case; empty if there is only one path.
pub fn of(params: &Params) -> Vec<String> {
    match params.text(RAILS.name) {
        Ok("none") | Err(_) => Vec::new(),
        // A comma on the command line would be a sweep over several values.
        Ok(list) => list.split(['+', ',']).map(|name| name.trim().to_owned()).collect(),
    }
}

pub fn rail_of(flow: u32, rails: usize) -> usize {
    flow as usize % rails.max(1)
}

/// Interfaces of each rail at both ends, as far as the nodes' inventories are known.
pub fn interfaces<'a>(
    rails: &[String],
    params: &Params,
    site: &'a Site,
) -> Result<Vec<[Option<&'a Nic>; 2]>, Reason> {
    let list = rails.join("+");
    let refuse = |cause: Cause, text: &str| Err(Reason::new(cause, format!("rails={list}: {text}")));
    let [first, second, ..] = site.nodes.as_slice() else {
        return refuse(Cause::Missing, "one node alone has only the loopback; name two nodes with -w");
    };
    if params.text("interface").is_ok_and(|name| name != "auto") {
        return refuse(Cause::Contradiction, "interface= names a different path; leave it out");
    }
    let twice = rails.iter().enumerate().any(|(at, name)| rails[..at].contains(name));
    if twice || rails.iter().any(String::is_empty) {
        return refuse(Cause::Contradiction, "list different interfaces, such as eth0+eth1");
    }
    let mut all = Vec::new();
    for name in rails {
        let mut both = [None, None];
        for (at, node) in [first, second].into_iter().enumerate() {
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
pub fn plan(case: &mut Case, rails: &[String]) {
    for end in ["interface", "peer_interface"] {
        case.planned.set(end, rails.join("+").as_str());
    }
}

/// The bounds `of_path` of the case, or the sum of those of its rails.
pub fn limits(
    case: &Case,
    site: &Site,
    of_path: impl Fn(&Case, &Site) -> Result<Vec<Bound>, String>,
) -> Result<Vec<Bound>, String> {
    let rails = of(&case.params);
    if rails.is_empty() {
        return of_path(case, site);
    }
    let of_rail = |rail: String| {
        let bounds = of_path(&only(case, &rail), site);
        (rail, bounds)
    };
    sum(rails.into_iter().map(of_rail).collect())
}

fn only(case: &Case, rail: &str) -> Case {
    let mut case = case.clone();
    case.planned.set("interface", rail);
    case.planned.set("peer_interface", rail);
    case
}

fn sum(rails: Vec<(String, Result<Vec<Bound>, String>)>) -> Result<Vec<Bound>, String> {
    let tightest = |(name, bounds): (String, Result<Vec<Bound>, String>)| {
        let tightest = Bound::tightest(&bounds?, Better::Higher).cloned();
        tightest.ok_or_else(|| format!("nothing bounds {name}"))
    };
    Ok(vec![Bound::sum(&rails.into_iter().map(tightest).collect::<Result<Vec<_>, String>>()?)?])
}
