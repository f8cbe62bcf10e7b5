//! A plan per node, for benchmarks that measure each node alone.

use std::collections::HashMap;

use seatrial_model::{
    About, Binding, Budget, Bytes, Case, Cause, Params, PartPlacement, Reason, Site, SiteNode, Subject,
    Writes,
};

use crate::group::{PARTS, kernel_of};
use crate::{budget, core_bindings};

/// The cases of all nodes. Nodes without a plan are left out; an error, with the first node's reason, when no node
/// has a plan.
pub fn each_node(
    site: &Site,
    plan: impl Fn(&SiteNode) -> Result<Vec<Case>, Reason>,
) -> Result<Vec<Case>, Reason> {
    let mut cases = Vec::new();
    let mut first_reason = None;
    for node in &site.nodes {
        match plan(node) {
            Ok(more) => cases.extend(more),
            Err(reason) => {
                first_reason.get_or_insert(reason);
            }
        }
    }
    if cases.is_empty() {
        return Err(first_reason
            .unwrap_or_else(|| Reason::new(Cause::Inapplicable, "there is no node to measure on")));
    }
    Ok(cases)
}

/// One case of all nodes of `site`, each with the part that `plan` gives it alone. Facts and planned values that differ
/// between the nodes are left out; the budget is the largest. The threads of nodes on one kernel have different cores, as long
/// as there are enough.
///
/// # Errors
/// Why a node has no plan, or several.
pub fn one_of_all(
    about: &About,
    site: &Site,
    plan: impl Fn(&SiteNode) -> Result<Vec<Case>, Reason>,
) -> Result<Case, Reason> {
    let of_node = |node: &SiteNode| match plan(node)?.as_mut_slice() {
        [one] => Ok(one.clone()),
        several => {
            let text =
                format!("{} has {} places to measure; name one for all nodes", node.name, several.len());
            Err(Reason::new(Cause::Contradiction, text))
        }
    };
    let own = site.nodes.iter().map(of_node).collect::<Result<Vec<Case>, Reason>>()?;
    let Some(first) = own.first() else {
        return Err(Reason::new(Cause::Inapplicable, "there is no node to measure on"));
    };
    let mut all = first.clone();
    all.nodes = own.iter().flat_map(|case| case.nodes.clone()).collect();
    all.places = own.iter().flat_map(|case| case.places.clone()).collect();
    for (place, index) in all.places.iter_mut().zip(0..) {
        place.index = index;
    }
    deal_cores(&mut all.places, site)?;
    let shared = |of: fn(&Case) -> &Params| -> Params {
        let pairs = of(first)
            .iter()
            .filter(|(name, value)| own.iter().all(|case| of(case).get(name) == Some(*value)));
        pairs.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    };
    (all.facts, all.planned) = (shared(|case| &case.facts), shared(|case| &case.planned));
    all.facts.set("nodes", own.len() as u64);
    all.planned.set(PARTS, own.len() as u64);
    all.key = first.key.clone().filter(|key| own.iter().all(|case| case.key.as_ref() == Some(key)));
    for case in &own[1..] {
        let budget = &mut all.budget;
        budget.prepare = budget.prepare.max(case.budget.prepare);
        budget.overhead = budget.overhead.max(case.budget.overhead);
        budget.measure = budget.measure.max(case.budget.measure);
        all.findings
            .extend(case.findings.iter().filter(|finding| !first.findings.contains(finding)).cloned());
    }
    all.budget.connect = Budget::connect_of(own.len());
    let times = |bytes: Bytes| Bytes(bytes.get().saturating_mul(own.len() as u64));
    all.writes = Writes { files: times(all.writes.files), total: times(all.writes.total), ..all.writes };
    Ok(all.in_group(about, about.id))
}

/// Nodes on one kernel have the same cores: each begins behind those of the nodes before it.
fn deal_cores(places: &mut [PartPlacement], site: &Site) -> Result<(), Reason> {
    let mut before: HashMap<&str, usize> = HashMap::new();
    for node in &site.nodes {
        let taken = before.entry(kernel_of(node)).or_default();
        for place in places.iter_mut().filter(|place| place.node == node.name) {
            if *taken > 0 {
                let cores = core_bindings(&node.machine)?;
                for binding in &mut place.bindings {
                    if let Some(at) = cores.iter().position(|core| core.cpu == binding.cpu) {
                        *binding = cores[(at + *taken) % cores.len()];
                    }
                }
            }
            *taken += place.bindings.len();
        }
    }
    Ok(())
}

/// The case of one worker on `node`, with a thread on each of `bindings`, or unpinned.
pub fn worker_case(
    about: &About,
    params: &Params,
    node: &SiteNode,
    bindings: Vec<Binding>,
) -> Result<Case, Reason> {
    let mut case = Case::new(about, &node.name, Subject::node(), params, budget(params)?);
    case.places = vec![PartPlacement::new(about.parts.names()[0], 0, &node.name, bindings)];
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::Machine;

    #[test]
    fn the_first_reason_is_told_when_no_node_can_be_planned() {
        let node = |name| SiteNode::new(name, Machine::default());
        let site = Site { nodes: vec![node("n1"), node("n2")] };
        let refuse = |node: &SiteNode| Err(Reason::new(Cause::NoSpace, format!("{} is full", node.name)));
        assert_eq!(each_node(&site, refuse).unwrap_err().text, "n1 is full");
        let none = each_node(&Site::default(), refuse).unwrap_err();
        assert_eq!((none.cause, none.text.as_str()), (Cause::Inapplicable, "there is no node to measure on"));
    }
}
