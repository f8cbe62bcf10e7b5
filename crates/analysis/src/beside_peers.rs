//! A number beside that of the peers, in words.

use crate::number::{ratio, significant};

/// `12 % of its peers' throughput`, `3.2 times its peers' latency`: of a number that is `percent` above that of the peers.
pub fn beside_peers(percent: f64, metric: &str) -> String {
    let share = 100.0 + percent;
    match percent < 0.0 {
        true if share >= 10.0 => format!("{share:.0} % of its peers' {metric}"),
        true => format!("{} % of its peers' {metric}", significant((100.0 * share).round() / 100.0)),
        false => format!("{} times its peers' {metric}", ratio(share / 100.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_shares_and_times_are_multiples() {
        let told = [(-88.27, "11"), (-8.0, "92"), (-99.625, "0.38"), (220.4, "3.2")];
        assert_eq!(beside_peers(told[0].0, "rate"), "12 % of its peers' rate");
        assert_eq!(beside_peers(told[1].0, "rate"), "92 % of its peers' rate");
        assert_eq!(beside_peers(told[2].0, "rate"), "0.38 % of its peers' rate");
        assert_eq!(beside_peers(told[3].0, "latency"), "3.2 times its peers' latency");
    }
}
