//! The path MTU from the searches.

use seatrial_model::{Case, Cause, Finding, Measures, PartRecord, Quantity, Reason, Sample, Severity, Unit};
use serde_json::Value;

use seatrial_bench::by_part;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.part == "client").collect();
    let value = |sample: &Sample| Some(sample.amount.value());
    let of = |channel| by_part(clients.iter().copied(), channel, value);
    let (forward, reverse) = (of("forward"), of("reverse"));
    if forward.iter().chain(&reverse).all(Vec::is_empty) {
        return Err(Reason::new(Cause::TooShort, "no search was complete within the time; raise -p time="));
    }
    let both = |(one, other): (&Vec<f64>, &Vec<f64>)| one.iter().zip(other).map(|(a, b)| a.min(*b)).collect();
    let path: Vec<Vec<f64>> = forward.iter().zip(&reverse).map(both).collect();
    let mut measures = Measures::default();
    for (name, trials) in [("path", path), ("forward", forward), ("reverse", reverse)] {
        measures.metric(name, Unit::Byte, trials);
    }
    if let Some(connection) = clients.last().and_then(|part| part.evidence.get("connection")) {
        let peer_mtu = parts.iter().rev().find_map(|part| part.evidence.get("interface_mtu"));
        measures.findings.extend(losses(case, &measures, connection, peer_mtu.and_then(Value::as_u64)));
        measures.evidence.insert("connection".to_owned(), connection.clone());
        measures.evidence.extend(peer_mtu.map(|mtu| ("peer_interface_mtu".to_owned(), mtu.clone())));
    }
    Ok(measures)
}

/// A finding for each direction in which packets that fit the sender's MTU are lost.
fn losses(case: &Case, measures: &Measures, connection: &Value, peer_mtu: Option<u64>) -> Vec<Finding> {
    let number = |name: &str| connection.get(name).and_then(Value::as_u64);
    let lost = |way: &str| connection.pointer(&format!("/lost_above/{way}")) == Some(&Value::Bool(true));
    let of = |way: &str| {
        let largest = measures.metrics.get(way)?.trials.iter().flatten().copied().reduce(f64::min)?;
        let ends = match (way, case.nodes.as_slice()) {
            ("forward", [first, second, ..]) => format!("from {first} to {second}"),
            ("reverse", [first, second, ..]) => format!("from {second} to {first}"),
            _ => "over the loopback".to_owned(),
        };
        let told = match number("kernel_believes") {
            Some(believed) if way == "forward" && believed as f64 <= largest => {
                "the sender received an ICMP message of a router, so TCP uses smaller packets"
            }
            _ => {
                "the sender receives no ICMP message, so TCP stalls on full-size packets until it tries smaller ones"
            }
        };
        let mtu = if way == "forward" { number("interface_mtu") } else { peer_mtu };
        let mtu = mtu.map_or(String::new(), |mtu| format!(" (the sender's interface has an MTU of {mtu} B)"));
        let text = format!(
            "{ends} packets above {largest} B are lost{mtu}; {told}: set the same MTU on every switch port and \
             interface of the path"
        );
        let mut finding = Finding::new("mtu-mismatch", Severity::Problem, case.subject.clone(), text);
        finding.value = Quantity::new(largest, Unit::Byte).ok();
        finding.evidence = vec![way.to_owned(), "connection".to_owned()];
        Some(finding)
    };
    ["forward", "reverse"].into_iter().filter(|way| lost(way)).filter_map(of).collect()
}
