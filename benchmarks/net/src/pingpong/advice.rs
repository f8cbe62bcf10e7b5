//! Findings from the curve and the connection together.

use seatrial_model::{Bytes, Case, Finding, Quantity, Severity, Subject, Unit};
use seatrial_stats::Sorted;
use serde_json::Value;

use super::plan::sizes_of;
use seatrial_bench::pingpong::PingPongCurve;

/// Compares the socket buffers with the bandwidth-delay product. Smaller buffers limit the rate to one buffer per
/// round trip, whatever the link can do (RFC 1323, section 1.1).
pub fn window(curve: &PingPongCurve, connection: &Value) -> Option<Finding> {
    let small = curve.points.first().filter(|point| point.size < 64)?;
    let round_trip_us = 2.0 * Sorted::pooled(&small.time_us).ok()?.median();
    let rate = curve.peak()?.median_rate();
    let product = rate * 1e9 / 8.0 * round_trip_us * 1e-6;
    let buffer = |name: &str| connection.get(name).and_then(Value::as_u64);
    let least = buffer("send_buffer").into_iter().chain(buffer("receive_buffer")).min()?;
    // SO_SNDBUF and SO_RCVBUF include the kernel's overhead, for which the kernel doubles the requested size
    // (socket(7)).
    // Each of several interfaces has a connection with buffers of its own.
    let connections = connection.get("rails").and_then(Value::as_array).map_or(1, Vec::len) as u64;
    let usable = connections * least / 2;
    let needs = Bytes(product.round() as u64).rounded();
    let text = format!(
        "{rate:.3} Gbit/s and a round trip of {round_trip_us:.1} us need {needs} in flight (bandwidth-delay product)"
    );
    let (severity, text) = if (usable as f64) < product {
        let usable = Bytes(usable).rounded();
        let advice = format!(
            "{text}, but the socket buffers hold {usable}: raise -p socket_buffer= above {needs}, and with it \
             net.core.rmem_max, net.core.wmem_max, net.ipv4.tcp_rmem and net.ipv4.tcp_wmem"
        );
        (Severity::Warning, advice)
    } else {
        (Severity::Info, format!("{text}; the socket buffers are large enough"))
    };
    let mut finding = Finding::new("bandwidth-delay", severity, Subject::node(), text);
    finding.value = Quantity::new(product, Unit::Byte).ok();
    finding.evidence = vec!["by_size".to_owned(), "time_by_size".to_owned(), "connection".to_owned()];
    Some(finding)
}

pub fn not_reached(case: &Case, curve: &PingPongCurve) -> Option<Finding> {
    let sizes = sizes_of(case).ok()?;
    let (largest, missing) = (curve.points.last()?.size, sizes.len().checked_sub(curve.points.len())?);
    if missing == 0 {
        return None;
    }
    let (which, other) = match sizes.iter().filter(|size| **size > largest).count() == missing {
        true => (format!("sizes above {}", Bytes(largest).rounded()), "lower -p to="),
        false => (format!("of {} sizes", sizes.len()), "measure fewer sizes with -p beside=0"),
    };
    let text = format!("{missing} {which} were not measured within the time: raise -p time=, or {other}");
    let mut finding = Finding::new("not-reached", Severity::Warning, Subject::node(), text);
    finding.evidence = vec!["by_size".to_owned()];
    Some(finding)
}
