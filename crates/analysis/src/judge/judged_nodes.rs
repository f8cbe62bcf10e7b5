//! Which nodes a verdict on a case is about.

use seatrial_model::Cause;
use seatrial_model::profile::Test;
use seatrial_model::record::CaseRecord;

/// The tested nodes of a case of `test`. If the test names a partner only the first node is tested, and the others
/// answer it.
pub fn tested_nodes<'a>(test: &Test, case: &'a CaseRecord) -> impl Iterator<Item = &'a String> + use<'a> {
    let most = if test.partner.is_some() { 1 } else { case.nodes.len() };
    case.nodes.iter().take(most)
}

/// The nodes that a verdict on a case of `test` is about; none for an interrupted case. For a case that lost nodes
/// these nodes alone: the others are judged by another case, with another partner or the reason why there is none.
pub fn judged_nodes<'a>(test: &Test, case: &'a CaseRecord) -> impl Iterator<Item = &'a String> + use<'a> {
    let is_about_all = case.lost.is_empty() || case.cause == Some(Cause::Interrupted);
    tested_nodes(test, case).filter(move |node| is_about_all || case.lost.contains(node))
}

/// The node that a case is about, if it is one.
pub fn judged_node<'a>(test: &Test, case: &'a CaseRecord) -> Option<&'a str> {
    let mut judged = judged_nodes(test, case);
    judged.next().filter(|_| judged.next().is_none()).map(String::as_str)
}
