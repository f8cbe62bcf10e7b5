//! What the peers print, as figures.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Stream;

/// iperf3's document. What arrived counts: its sender's figure holds what still lies in buffers.
pub fn iperf3(text: &str) -> Result<Stream> {
    let document: Value = serde_json::from_str(text).context("iperf3 wrote no JSON")?;
    let end = &document["end"];
    let received = &end["sum_received"]["bits_per_second"];
    let rate = received.as_f64().with_context(|| format!("iperf3: no rate: {}", document["error"]))? / 1e9;
    let cpu = |end_of: &str| end["cpu_utilization_percent"][end_of].as_f64().context("iperf3: no CPU time");
    Ok(Stream { rate, cpu: cpu("host_total")? + cpu("remote_total")? })
}

/// nuttcp's line of `-fparse`: decimal Mbit/s that arrived, and whole percents of a CPU.
pub fn nuttcp(text: &str) -> Result<Stream> {
    let value = |name: &str| -> Result<f64> {
        let mut words = text.split_whitespace();
        let found = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        Ok(found.with_context(|| format!("nuttcp: no {name} in: {text}"))?.parse()?)
    };
    Ok(Stream { rate: value("rate_Mbps")? / 1e3, cpu: value("tx_cpu")? + value("rx_cpu")? })
}

/// sockperf's median, which is half a round trip in microseconds; returned is the whole.
pub fn sockperf(text: &str) -> Result<f64> {
    let line = text.lines().find_map(|line| line.split_once("percentile 50.000 ="));
    Ok(line.context("sockperf: no median")?.1.trim().parse::<f64>()? * 2.0)
}

/// qperf's mean, which is half a round trip; returned is the whole in microseconds.
pub fn qperf(text: &str) -> Result<f64> {
    Ok(qperf_latency(text)? * 2.0)
}

/// The latency that qperf printed, in a unit of its choice; returned are microseconds.
pub fn qperf_latency(text: &str) -> Result<f64> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("latency")?.trim().strip_prefix('='));
    let (value, unit) = line.and_then(|line| line.trim().split_once(' ')).context("qperf: no latency")?;
    let factor = match unit.trim() {
        "ns" => 1e-3,
        "us" => 1.0,
        "ms" => 1e3,
        "sec" => 1e6,
        other => anyhow::bail!("qperf: '{other}' is not a unit of time that we know"),
    };
    Ok(value.parse::<f64>()? * factor)
}

/// Rows of NPtcp's table: bytes, "Mbps" that are units of 2^20 bit/s, and seconds of half a round trip.
fn netpipe(table: &str) -> Result<Vec<[f64; 3]>> {
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let fields: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let fields = fields.with_context(|| format!("NPtcp: {line}"))?;
        rows.push(<[f64; 3]>::try_from(fields).ok().with_context(|| format!("NPtcp: {line}"))?);
    }
    ensure!(!rows.is_empty(), "NPtcp: an empty table");
    Ok(rows)
}

/// The highest throughput of NPtcp's table, in decimal Gbit/s.
pub fn netpipe_peak(table: &str) -> Result<f64> {
    let rates = netpipe(table)?.into_iter().map(|[_, rate, _]| rate * 1_048_576.0 / 1e9);
    Ok(rates.fold(0.0, f64::max))
}

/// The median over the sizes below 64 B of half the round trip, in microseconds.
pub fn netpipe_small(table: &str) -> Result<f64> {
    let rows = netpipe(table)?;
    let times: Vec<f64> =
        rows.into_iter().filter(|row| row[0] < 64.0).map(|[_, _, seconds]| seconds * 1e6).collect();
    ensure!(!times.is_empty(), "NPtcp: no size below 64 B");
    Ok(median(times))
}

/// The median; of no values none.
pub fn median(values: Vec<f64>) -> f64 {
    seatrial_stats::median(&values).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near(value: f64, wanted: f64) {
        assert!((value / wanted - 1.0).abs() < 1e-9, "{value} is not {wanted}");
    }

    #[test]
    fn of_iperf3_what_arrived_counts_and_the_cpu_time_of_both_ends() {
        let tcp = iperf3(include_str!("captured/tcp.json")).unwrap();
        assert_near(tcp.rate, 10.738_196_492_620_583);
        assert!(tcp.cpu > 25.962, "{tcp:?}");
        let udp = iperf3(include_str!("captured/udp.json")).unwrap();
        // 1.599 Gbit/s were sent, and 68.7 % of the datagrams lost.
        assert_near(udp.rate, 0.479_655_800_289_009_3);
        assert_near(udp.cpu, 49.393_947_534_152_94 + 22.115_690_832_948_52);
    }

    #[test]
    fn an_error_of_iperf3_is_told() {
        let text = r#"{"start": {}, "end": {}, "error": "unable to connect to server"}"#;
        assert!(iperf3(text).unwrap_err().to_string().contains("unable to connect"));
    }

    #[test]
    fn nuttcp_is_read_with_one_flow_and_with_several() {
        let one = nuttcp(include_str!("captured/nuttcp1.txt")).unwrap();
        assert_near(one.rate, 7.732_427);
        assert_near(one.cpu, 57.0);
        let two = nuttcp(include_str!("captured/nuttcp2.txt")).unwrap();
        assert_near(two.rate, 8.764_566_5);
        assert_near(two.cpu, 67.0);
        assert!(nuttcp("nuttcp-t: v6.1.2: Error: connect").unwrap_err().to_string().contains("rate_Mbps"));
    }

    #[test]
    fn sockperf_and_qperf_tell_half_a_round_trip() {
        assert_near(sockperf(include_str!("captured/sockperf.txt")).unwrap(), 2.0 * 6.975);
        assert_near(qperf(include_str!("captured/qperf.txt")).unwrap(), 2.0 * 25.4699);
        assert_near(qperf("tcp_lat:\n    latency  =  7583 ns\n").unwrap(), 2.0 * 7.583);
        assert!(qperf("tcp_lat:\n    latency  =  7583 weeks\n").is_err());
    }

    #[test]
    fn a_megabit_of_netpipe_is_one_of_two_to_the_twenty() {
        let table = include_str!("captured/netpipe.txt");
        let peak = netpipe_peak(table).unwrap();
        assert_near(peak, 8.031_918 * 1.048_576e-3);
        // Its own bytes and seconds say the same: 8 B in 7.60 us, of which three digits are printed.
        assert!((peak / (64.0 / 7.60e-6 / 1e9) - 1.0).abs() < 1e-3, "{peak}");
        assert_near(netpipe_small(table).unwrap(), f64::midpoint(7.92, 8.15));
        assert!(netpipe("").is_err());
    }
}
