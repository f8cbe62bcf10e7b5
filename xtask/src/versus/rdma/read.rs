//! What the peers print, as figures.

use anyhow::{Context, Result};

/// The last row of perftest's table, as numbers.
fn last_row(text: &str) -> Result<Vec<f64>> {
    let numbers = |line: &str| -> Option<Vec<f64>> {
        let fields: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        fields.ok().filter(|fields| fields.len() >= 5)
    };
    text.lines().rev().find_map(numbers).with_context(|| format!("perftest: no row of figures in: {text}"))
}

/// The average of a table of bandwidths: size, iterations, peak, average, messages.
pub fn average(text: &str) -> Result<f64> {
    column(text, 3)
}

/// The message rate of the same table, in millions a second.
pub fn rate(text: &str) -> Result<f64> {
    column(text, 4)
}

/// The typical latency: size, iterations, least, most, typical, and more.
pub fn typical(text: &str) -> Result<f64> {
    column(text, 4)
}

fn column(text: &str, number: usize) -> Result<f64> {
    let row = last_row(text)?;
    row.get(number).copied().with_context(|| format!("perftest: no column {number} in {row:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versus::network::read::qperf_latency as latency;

    const BANDWIDTH: &str = include_str!("captured/write_bw.txt");
    const LATENCY: &str = include_str!("captured/write_lat.txt");

    #[test]
    fn figures_of_captured_tables_are_read() {
        assert_eq!([average(BANDWIDTH).unwrap(), rate(BANDWIDTH).unwrap()], [0.28, 0.000_527]);
        assert_eq!(typical(LATENCY).unwrap(), 3996.41);
    }

    #[test]
    fn a_table_without_figures_is_told() {
        assert!(
            average("Failed to modify QP to RTR\n").unwrap_err().to_string().contains("no row of figures")
        );
    }

    #[test]
    fn qperf_chooses_its_unit() {
        assert_eq!(latency("rc_lat:\n    latency  =  5.73 us\n").unwrap(), 5.73);
        assert!(
            (latency("rc_rdma_write_poll_lat:\n    latency  =  925 ns\n").unwrap() - 0.925).abs() < 1e-12
        );
        assert!(latency("rc_lat:\nfailed\n").is_err());
    }
}
