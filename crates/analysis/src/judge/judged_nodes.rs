//! Of which nodes a verdict on a case speaks.

use seatrial_model::Cause;
use seatrial_model::profile::Test;
use seatrial_model::record::CaseRecord;

/// The nodes that a case of `test` is there for. Where the test names a partner, the first node is the one that is tested
/// and the others only answer it.
pub fn tested_nodes<'a>(test: &Test, case: &'a CaseRecord) -> impl Iterator<Item = &'a String> + use<'a> {
    let most = if test.partner.is_some() { 1 } else { case.nodes.len() };
    case.nodes.iter().take(most)
}

/// The nodes that a case of `test` speaks about. A case in which nodes were lost speaks about these alone: who is left is
/// told by another case, with another partner or with the reason why there is none. One that was interrupted speaks
/// against nobody.
pub fn judged_nodes<'a>(test: &Test, case: &'a CaseRecord) -> impl Iterator<Item = &'a String> + use<'a> {
    let is_about_all = case.lost.is_empty() || case.cause == Some(Cause::Interrupted);
    tested_nodes(test, case).filter(move |node| is_about_all || case.lost.contains(node))
}

/// The node that a case speaks about, when it is one.
pub fn judged_node<'a>(test: &Test, case: &'a CaseRecord) -> Option<&'a str> {
    let mut judged = judged_nodes(test, case);
    judged.next().filter(|_| judged.next().is_none()).map(String::as_str)
}
