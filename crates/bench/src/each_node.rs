//! A plan per node, for benchmarks that measure each node alone.

use seatrial_model::{About, Binding, Case, Cause, Params, PartPlacement, Reason, Site, SiteNode, Subject};

use crate::budget;

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
