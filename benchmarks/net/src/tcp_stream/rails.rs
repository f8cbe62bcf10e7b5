//! Flows dealt over several interfaces of both nodes, a rail each.

use seatrial_model::machine::Nic;
use seatrial_model::{Bound, Case, Cause, Kind, ParamSpec, Params, Quantity, Reason, Site};

pub const RAILS: ParamSpec = ParamSpec::new("rails", Kind::Text, "none").word("none").doc(
    "Interfaces of both nodes over which the flows are dealt one by one, such as eth0+eth1; none takes \
     only the one of `interface`.",
);

/// The names that a case asks for; empty where there is only one path.
pub fn of(params: &Params) -> Vec<String> {
    match params.text(RAILS.name) {
        Ok("none") | Err(_) => Vec::new(),
        // A comma on the command line would be a sweep over several values.
        Ok(list) => list.split(['+', ',']).map(|name| name.trim().to_owned()).collect(),
    }
}

/// The rail of a flow by its number: they are dealt one by one.
pub fn rail_of(flow: u32, rails: usize) -> usize {
    flow as usize % rails.max(1)
}

/// The interfaces of each rail at both ends, as far as the nodes tell theirs.
pub fn interfaces<'a>(
    rails: &[String],
    params: &Params,
    site: &'a Site,
) -> Result<Vec<[Option<&'a Nic>; 2]>, Reason> {
    let list = rails.join("+");
    let refuse = |cause: Cause, text: &str| Err(Reason::new(cause, format!("rails={list}: {text}")));
    let [first, second, ..] = site.nodes.as_slice() else {
        return refuse(Cause::Missing, "one node by itself has only the loopback; name two nodes with -w");
    };
    if params.text("interface").is_ok_and(|name| name != "auto") {
        return refuse(Cause::Contradiction, "leave out interface=, which names another way");
    }
    let twice = rails.iter().enumerate().any(|(at, name)| rails[..at].contains(name));
    if twice || rails.iter().any(String::is_empty) {
        return refuse(Cause::Contradiction, "it is a list of different interfaces, such as eth0+eth1");
    }
    let flows = params.count("flows").unwrap_or(1);
    if flows < rails.len() as u64 {
        let text = format!("{flows} flows do not reach all of them; give -p flows={} or more", rails.len());
        return refuse(Cause::Contradiction, &text);
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

/// The case as if it had this rail alone.
pub fn only(case: &Case, rail: &str) -> Case {
    let mut case = case.clone();
    case.planned.set("interface", rail);
    case.planned.set("peer_interface", rail);
    case
}

/// The sum of what each rail lets through at most.
pub fn sum(rails: Vec<(String, Result<Vec<Bound>, String>)>) -> Result<Vec<Bound>, String> {
    let (mut total, mut unit, mut formulas, mut provenance) = (0.0, None, Vec::new(), Vec::new());
    for (name, bounds) in rails {
        let bounds = bounds?;
        let tightest = bounds.iter().min_by(|one, other| one.value.value().total_cmp(&other.value.value()));
        let tightest = tightest.ok_or_else(|| format!("nothing bounds {name}"))?;
        total += tightest
            .value
            .to(*unit.get_or_insert(tightest.value.unit()))
            .map_err(|error| error.to_string())?
            .value();
        formulas.push(format!("({})", tightest.formula));
        if !provenance.contains(&tightest.provenance) {
            provenance.push(tightest.provenance.clone());
        }
    }
    let unit = unit.ok_or("there are no rails")?;
    let value = Quantity::new(total, unit).map_err(|error| error.to_string())?;
    Ok(vec![Bound { value, formula: formulas.join(" + "), provenance: provenance.join(", ") }])
}
