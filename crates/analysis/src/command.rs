//! Words of command lines that are offered to the user.

use seatrial_model::profile::fold;
use seatrial_model::quoted;
use seatrial_model::record::CaseRecord;

/// The parameters of `case` that are not default, as in its id: `kernel=triad`.
pub fn named_params(case: &CaseRecord) -> Vec<String> {
    let id = case.case.as_str();
    let named = id.rfind('[').map_or("", |start| &id[start + 1..]);
    let named = format!(",{},", named.trim_end_matches(']'));
    let pairs = case.params.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.filter(|pair| named.contains(&format!(",{pair},"))).collect()
}

/// Nodes as `-w` takes them.
pub(crate) fn nodes_word<T: AsRef<str>>(nodes: &[T]) -> String {
    quoted(&fold(nodes))
}
