//! What the peers print, as figures.

use anyhow::{Context, Result, ensure};

/// The last row of perftest's table, as numbers; five at least.
fn last_row(text: &str) -> Result<Vec<f64>> {
    let numbers = |line: &str| -> Option<Vec<f64>> {
        let fields: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        fields.ok().filter(|fields| fields.len() >= 5)
    };
    text.lines().rev().find_map(numbers).with_context(|| format!("perftest: no row of figures in: {text}"))
}

/// Gbit/s of a table of bandwidths: size, iterations, peak, average, messages. The average has two digits behind the point,
/// which are 3 % of 0.3 Gbit/s; the rate of messages has six.
pub fn rate_of_bytes(text: &str) -> Result<f64> {
    let size = last_row(text)?[0];
    Ok(rate(text)? * size * 8e-3)
}

/// The message rate of the same table, in millions a second.
pub fn rate(text: &str) -> Result<f64> {
    let row = last_row(text)?;
    ensure!(row[1] > 0.0, "perftest saw no completion in all of its time");
    Ok(row[4])
}

/// The typical latency: size, iterations, least, most, typical, and more.
pub fn typical(text: &str) -> Result<f64> {
    Ok(last_row(text)?[4])
}

/// The bandwidth that qperf printed, in a unit of its choice; returned is Gbit/s. Of what was sent and what was received, the
/// latter.
pub fn qperf_bandwidth(text: &str) -> Result<f64> {
    let told = |name: &str| {
        text.lines().find_map(|line| line.trim().strip_prefix(name)?.trim().strip_prefix('=')).map(str::trim)
    };
    let (value, unit) = told("recv_bw")
        .or_else(|| told("bw"))
        .and_then(|told| told.split_once(' '))
        .with_context(|| format!("qperf: no bandwidth in: {text}"))?;
    let bytes = match unit.trim() {
        "bytes/sec" => 1.0,
        "KB/sec" => 1e3,
        "MB/sec" => 1e6,
        "GB/sec" => 1e9,
        "TB/sec" => 1e12,
        other => anyhow::bail!("qperf: '{other}' is not a unit of bandwidth that we know"),
    };
    Ok(value.parse::<f64>()? * bytes * 8e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versus::network::read::qperf_latency as latency;

    const BANDWIDTH: &str = include_str!("captured/write_bw.txt");
    const LATENCY: &str = include_str!("captured/write_lat.txt");

    #[test]
    fn figures_of_captured_tables_are_read() {
        assert_eq!(rate(BANDWIDTH).unwrap(), 0.000_527);
        // It prints 0.28.
        assert!((rate_of_bytes(BANDWIDTH).unwrap() - 0.276_3).abs() < 1e-4);
        assert_eq!(typical(LATENCY).unwrap(), 3996.41);
    }

    #[test]
    fn a_table_without_figures_is_told() {
        let error = rate_of_bytes("Failed to modify QP to RTR\n").unwrap_err();
        assert!(error.to_string().contains("no row of figures"));
    }

    #[test]
    fn a_run_that_saw_nothing_end_is_no_rate_of_0() {
        let nothing = " 65536      0           0.000000            0.000000            0.000000\n";
        let error = rate_of_bytes(nothing).unwrap_err().to_string();
        assert_eq!(error, "perftest saw no completion in all of its time");
        assert!(rate(nothing).is_err());
    }

    #[test]
    fn qperf_chooses_its_unit() {
        assert_eq!(latency("rc_lat:\n    latency  =  5.73 us\n").unwrap(), 5.73);
        assert!(
            (latency("rc_rdma_write_poll_lat:\n    latency  =  925 ns\n").unwrap() - 0.925).abs() < 1e-12
        );
        assert!(latency("rc_lat:\nfailed\n").is_err());
        let both = "rc_bw:\n    send_bw  =  1.5 GB/sec\n    recv_bw  =  1 GB/sec\n";
        assert!((qperf_bandwidth(both).unwrap() - 8.0).abs() < 1e-12);
        let one = qperf_bandwidth("rc_rdma_write_bw:\n    bw  =  35.5 MB/sec\n").unwrap();
        assert!((one - 0.284).abs() < 1e-12, "{one}");
        assert!(qperf_bandwidth("rc_bw:\n    bw  =  3 weeks\n").is_err());
        assert!(qperf_bandwidth("rc_bw:\nfailed\n").is_err());
    }
}
