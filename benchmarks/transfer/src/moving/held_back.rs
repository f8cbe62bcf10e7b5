//! For which shares of the time what held a copy back, and the findings that follow.

use seatrial_bench::is_lossy;
use seatrial_model::{Case, Evidence, Finding, HeldBack, Hold, PartRecord, Quantity, Sample, Severity, Unit};

use super::runner::LOGIN;
use super::sender::{
    BUSIEST, BUSIEST_THREAD, CONGESTION, COPIED, READING, SEGMENTS, SENDING, SENT_AGAIN, STORING, WINDOW,
};

/// Percent of a CPU above which a thread never waited for anything else.
const WHOLE_CORE: f64 = 90.0;

/// Share of the time for which a full window is what bounds the rate.
const MOST_OF_THE_TIME: f64 = 0.5;

/// The connections themselves.
const TAKEN: &str = "connections take the data";

/// Sums over all copies of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Of the copies, in ns.
    took: f64,
    copies: usize,
    bytes: f64,
    reading: f64,
    sending: f64,
    storing: f64,
    window: f64,
    busiest: f64,
    /// Of one login.
    login: f64,
    /// Connections among which the first four are sums.
    streams: f64,
    /// TCP segments that the node sent for the first time, and again.
    segments: f64,
    sent_again: f64,
}

impl Times {
    pub fn of(case: &Case, parts: &[PartRecord], evidence: &Evidence) -> Self {
        let all = |channel: &str| {
            let samples = parts.iter().flat_map(|part| &part.samples);
            samples.filter(|sample| sample.channel == channel).cloned().collect::<Vec<Sample>>()
        };
        let sum = |channel: &str| all(channel).iter().map(|sample| sample.amount.base()).sum::<f64>();
        let copied = all(COPIED);
        Self {
            took: copied.iter().map(|copy| copy.span().get() as f64).sum(),
            copies: copied.len(),
            bytes: sum(COPIED),
            reading: sum(READING),
            sending: sum(SENDING),
            storing: sum(STORING),
            window: sum(WINDOW),
            busiest: sum(BUSIEST),
            login: evidence.get(LOGIN).and_then(serde_json::Value::as_f64).unwrap_or(0.0),
            streams: case.params.count("streams").map_or(1.0, |streams| streams.max(1) as f64),
            segments: sum(SEGMENTS),
            sent_again: sum(SENT_AGAIN),
        }
    }

    /// Of the time of a connection.
    fn share(&self, sum: f64) -> f64 {
        sum / (self.took * self.streams).max(1.0)
    }

    /// The share of the segments that was lost, where it is so large that it holds the copies back.
    fn lost(&self) -> Option<f64> {
        let share = self.sent_again / self.segments.max(1.0);
        is_lossy(share, self.sent_again as u64).then_some(share)
    }

    /// What held the copies back. A connection that waits for the receiver to store counts as storing, and one whose window is
    /// full as that; where segments are lost, the rest of the time is that of the losses.
    pub fn held_back(&self, thread: &str) -> HeldBack {
        let storing = self.storing.min(self.sending);
        let window = self.window.min(self.sending - storing);
        let hold = |what: &str, share: f64, moves_data: bool, source: &str| Hold {
            what: what.to_owned(),
            share,
            moves_data,
            source: source.to_owned(),
            ..Hold::default()
        };
        let mut holds = vec![
            hold("source is read", self.share(self.reading), false, "time of the sending threads in reads"),
            hold("target is written", self.share(storing), false, "time of the receiving threads in writes"),
            hold(
                "window of the connections",
                self.share(window),
                false,
                "tcpi_rwnd_limited, tcpi_sndbuf_limited",
            ),
            hold(
                TAKEN,
                self.share(self.sending - storing - window),
                true,
                "time of the sending threads in writes to the connections",
            ),
        ];
        if self.sending <= 0.0 {
            let login = self.login * self.copies as f64 / self.took.max(1.0);
            holds.push(hold("login with ssh", login.min(1.0), false, "time of a login that does nothing"));
            let busy = (self.busiest / self.took.max(1.0)).min(1.0 - login.min(1.0));
            holds.push(hold(&format!("busiest thread, of {thread}"), busy, true, "CPU time of its threads"));
        }
        if let Some(lost) = self.lost() {
            // Data that a connection took waits in its buffer until losses are made good.
            holds.retain(|hold| hold.what != TAKEN);
            let left = 1.0 - holds.iter().map(|hold| hold.share).sum::<f64>();
            let source = format!("segments sent again ({:.1} %, /proc/net/snmp)", 100.0 * lost);
            holds.push(hold("packet loss", left, true, &source));
        }
        holds.retain(|hold| hold.share > 0.0);
        holds.sort_by(|one, other| other.share.total_cmp(&one.share));
        HeldBack(holds)
    }

    /// One thread had no time left: that of ssh, which encrypts, or another.
    pub fn one_core_bound(&self, case: &Case, evidence: &Evidence) -> Option<Finding> {
        let percent = 100.0 * self.busiest / self.took.max(1.0);
        let text_of = |name: &str| evidence.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        let (thread, cipher) = (text_of(BUSIEST_THREAD), text_of("cipher"));
        let tool = case.params.text("tool").unwrap_or_default();
        let (kind, text) = if thread == "ssh" {
            let text = format!(
                "ssh, which encrypts with {cipher} for tool={tool}, used {percent:.0} % of a CPU: encryption bounds the rate; \
                 compare `-p cipher=aes128-gcm@openssh.com` and `-p tool=native`, or make several copies at once"
            );
            ("cipher-bound", text)
        } else {
            let text = format!(
                "one thread of tool={tool} on the node that runs it ({thread}) used {percent:.0} % of a CPU: one core bounds the \
                 rate; copy with a tool of several threads, or make several copies at once"
            );
            ("one-core-bound", text)
        };
        let finding = Finding::new(kind, Severity::Warning, case.subject.clone(), text);
        let value = Quantity::new(percent, Unit::Percent).ok();
        (percent >= WHOLE_CORE).then(|| Finding { value, evidence: vec![BUSIEST.to_owned()], ..finding })
    }

    /// So many segments were lost that congestion control bounds the rate.
    pub fn loss_bound(&self, case: &Case, evidence: &Evidence) -> Option<Finding> {
        let percent = 100.0 * self.lost()?;
        let control = evidence.get(CONGESTION).and_then(serde_json::Value::as_str).unwrap_or("unknown");
        let text = format!(
            "{percent:.2} % of the segments were lost and sent again, with the congestion control {control}: the path drops \
             packets, or a queue in it is full; `seatrial run net.tcp_stream` between the nodes tells which of both. Check the \
             error counters of both cards and of the switch, the RX ring sizes (ethtool -g), and policers"
        );
        let finding = Finding::new("limited-by-loss", Severity::Warning, case.subject.clone(), text);
        let value = Quantity::new(percent, Unit::Percent).ok();
        Some(Finding { value, evidence: vec![SENT_AGAIN.to_owned()], ..finding })
    }

    /// A full window kept the connections from sending for most of the time.
    pub fn window_bound(&self, case: &Case) -> Option<Finding> {
        let share = self.share(self.window);
        let each = self.bytes / (self.took * self.streams).max(1.0) * 1e3;
        let text = format!(
            "the window of the connections was full for {:.0} % of the time: a connection sends at most window / round trip, and \
             each of the {} sent {each:.0} MB/s; set `-p window=bdp`, raise net.ipv4.tcp_wmem at the source and \
             net.ipv4.tcp_rmem at the target, or take more `-p streams=`",
            100.0 * share,
            self.streams,
        );
        let finding = Finding::new("window-bound", Severity::Warning, case.subject.clone(), text);
        let value = Quantity::new(100.0 * share, Unit::Percent).ok();
        (share >= MOST_OF_THE_TIME).then(|| Finding { value, evidence: vec![WINDOW.to_owned()], ..finding })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(times: Times) -> Vec<(String, f64)> {
        let round = |share: f64| (share * 1000.0).round() / 1000.0;
        times.held_back("ssh").0.into_iter().map(|hold| (hold.what, round(hold.share))).collect()
    }

    #[test]
    fn the_time_of_the_connections_is_shared_once() {
        // Two connections for a second: 0.4 s of reads, 1.6 s of sending, of which the receiver stored for 1 s.
        let times = Times {
            took: 1e9,
            copies: 1,
            streams: 2.0,
            reading: 0.4e9,
            sending: 1.6e9,
            storing: 1e9,
            window: 0.2e9,
            busiest: 1e9,
            ..Times::default()
        };
        let expected = [
            ("target is written", 0.5),
            ("source is read", 0.2),
            ("connections take the data", 0.2),
            ("window of the connections", 0.1),
        ];
        assert_eq!(shares(times), expected.map(|(what, share)| (what.to_owned(), share)));
        // More storing than sending: the rest of it was beside something else.
        let busy = Times { storing: 3e9, ..times };
        assert!(shares(busy).iter().map(|(_, share)| share).sum::<f64>() <= 1.0);
    }

    #[test]
    fn of_a_path_that_loses_packets_the_rest_of_the_time_is_that_of_the_losses() {
        let times = Times {
            took: 1e9,
            copies: 1,
            streams: 1.0,
            sending: 0.9e9,
            storing: 0.2e9,
            segments: 5000.0,
            sent_again: 50.0,
            ..Times::default()
        };
        let names = |times: Times| shares(times).into_iter().map(|(what, _)| what).collect::<Vec<_>>();
        assert_eq!(shares(times)[0], ("packet loss".to_owned(), 0.8));
        assert_eq!(times.held_back("").0[0].source, "segments sent again (1.0 %, /proc/net/snmp)");
        // A few are no loss of the path.
        assert_eq!(names(Times { sent_again: 20.0, ..times })[0], "connections take the data");
        assert_eq!(
            names(Times { sent_again: 9.0, segments: 100.0, ..times })[0],
            "connections take the data"
        );
        let of_a_tool = Times { sending: 0.0, storing: 0.0, busiest: 0.3e9, login: 0.1e9, ..times };
        let expected = [("packet loss", 0.6), ("busiest thread, of ssh", 0.3), ("login with ssh", 0.1)];
        assert_eq!(shares(of_a_tool), expected.map(|(what, share)| (what.to_owned(), share)));
    }

    #[test]
    fn a_program_is_held_back_by_its_login_and_its_busiest_thread() {
        let times =
            Times { took: 4e9, copies: 2, login: 0.2e9, busiest: 3e9, streams: 4.0, ..Times::default() };
        let expected = [("busiest thread, of ssh", 0.75), ("login with ssh", 0.1)];
        assert_eq!(shares(times), expected.map(|(what, share)| (what.to_owned(), share)));
    }
}
