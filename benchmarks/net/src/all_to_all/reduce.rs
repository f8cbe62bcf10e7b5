//! Rates of the exchange, and what the sockets told.

use seatrial_bench::all_to_all::{self, CountedAt};
use seatrial_model::{Addresses, Case, Fact, Measures, PartRecord, Reason};
use serde_json::{Value, json};

/// The address of a part's node, in its evidence.
pub const ADDRESS: &str = "address";

/// Bytes of TCP count when they have arrived.
pub const COUNTED: CountedAt = CountedAt::Receiver;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let mut measures = all_to_all::reduce(COUNTED, case, parts)?;
    let of = |name: &str| parts.iter().filter_map(|part| part.evidence.get(name)).collect::<Vec<_>>();
    let mut interfaces = of("interface");
    interfaces.dedup();
    measures.evidence.insert("interface".to_owned(), json!(interfaces));
    let foreign: u64 = of("foreign").into_iter().filter_map(Value::as_u64).sum();
    measures.evidence.insert("foreign".to_owned(), json!(foreign));
    let address =
        |part: &PartRecord| Some((part.node.clone(), part.evidence.get(ADDRESS)?.as_str()?.parse().ok()?));
    Addresses(parts.iter().filter_map(address).collect()).put(&mut measures.evidence);
    Ok(measures)
}
