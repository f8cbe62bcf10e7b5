//! What an NFS client counted while a case was measured, from the readings of the probe `nfs`.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{NodeReadings, ProbeReading};

/// Operations that move data or make it durable.
const DATA: [&str; 3] = ["READ", "WRITE", "COMMIT"];

/// The requests of a node to the server of one mount.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Served<'a> {
    pub node: &'a str,
    /// `SERVER:/EXPORT`, as it was mounted.
    pub export: String,
    /// Between the readings, over all trials.
    elapsed_ms: u64,
    /// Of TCP to the server, where it was told.
    pub round_trip_ms: Option<f64>,
    operations: BTreeMap<String, Operation>,
}

/// Counts of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Operation {
    operations: u64,
    retransmissions: u64,
    timeouts: u64,
    queue_ms: u64,
    rtt_ms: u64,
    execute_ms: u64,
}

/// Of each node that measured a case on an NFS mount, the mount that the case is about.
pub(crate) fn served<'a>(case: &'a CaseRecord) -> Vec<Served<'a>> {
    let Some(point) = case.subject.as_str().strip_prefix("fs:") else { return Vec::new() };
    // As the kernel writes the name (seq_path of fs/proc_namespace.c).
    let escaped = [("\\", "\\134"), (" ", "\\040"), ("\t", "\\011"), ("\n", "\\012")];
    let point = escaped.iter().fold(point.to_owned(), |point, (sign, code)| point.replace(sign, code));
    let of_node = |(node, reading): (&'a str, ProbeReading)| {
        let mut found: Option<Served<'a>> = None;
        let elapsed_ms = reading.counts.get("elapsed_ms").copied()?;
        for (name, count) in &reading.counts {
            let mut words = name.split(' ');
            let (Some(what), Some(operation), Some(export), Some(at)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            if at != point {
                continue;
            }
            let level = reading.levels.get(&format!("round_trip_us {export} {at}"));
            let served = found.get_or_insert_with(|| Served {
                node,
                export: export.to_owned(),
                elapsed_ms,
                round_trip_ms: level.map(|us| *us as f64 / 1e3),
                operations: BTreeMap::new(),
            });
            served.operations.entry(operation.to_owned()).or_default().add(what, *count);
        }
        found
    };
    NodeReadings::of_probe(&case.evidence, "nfs").filter_map(of_node).collect()
}

impl Operation {
    fn add(&mut self, what: &str, count: u64) {
        match what {
            "operations" => self.operations = count,
            "retransmissions" => self.retransmissions = count,
            "timeouts" => self.timeouts = count,
            "queue_ms" => self.queue_ms = count,
            "rtt_ms" => self.rtt_ms = count,
            "execute_ms" => self.execute_ms = count,
            _ => {}
        }
    }
}

impl Served<'_> {
    fn sum(&self, of: fn(&Operation) -> u64) -> f64 {
        self.operations.values().map(of).sum::<u64>() as f64
    }

    /// The operation of data that took most of the time, else the one of all; its requests, and how long one was answered.
    pub fn longest(&self) -> Option<(&str, u64, f64)> {
        let by_time = |of: &dyn Fn(&str) -> bool| {
            let all = self.operations.iter().filter(|(name, one)| of(name) && one.operations > 0);
            all.max_by_key(|(_, one)| one.rtt_ms)
        };
        let (name, one) = by_time(&|name| DATA.contains(&name)).or_else(|| by_time(&|_| true))?;
        Some((name.as_str(), one.operations, one.rtt_ms as f64 / one.operations as f64))
    }

    pub fn requests(&self) -> u64 {
        self.operations.values().map(|one| one.operations).sum()
    }

    pub fn sent_again(&self) -> u64 {
        self.operations.values().map(|one| one.retransmissions).sum()
    }

    pub fn timeouts(&self) -> u64 {
        self.operations.values().map(|one| one.timeouts).sum()
    }

    /// Shares of the measured time, 0 to 1: requests were at the server; they waited to be sent; they waited for anything else,
    /// which is to be sent again where some were. The mean number of requests under way (Little's law), at most 1, is the
    /// share of the time with a request.
    pub fn shares(&self) -> (f64, f64, f64) {
        let (execute, queue, rtt) =
            (self.sum(|one| one.execute_ms), self.sum(|one| one.queue_ms), self.sum(|one| one.rtt_ms));
        if execute <= 0.0 || self.elapsed_ms == 0 {
            return (0.0, 0.0, 0.0);
        }
        let busy = (execute / self.elapsed_ms as f64).min(1.0);
        let of = |part: f64| busy * (part / execute).clamp(0.0, 1.0);
        (of(rtt), of(queue), of(execute - queue - rtt))
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    use seatrial_model::record::CaseRecord;
    use serde_json::{Value, json};

    use crate::judge::fixture::case;

    /// The counts of 100 writes within 2 s, each of which the server answers after `rtt_ms`.
    pub fn counts(rtt_ms: u64, sent_again: u64) -> Value {
        let of = |what: &str| format!("{what} WRITE 10.78.1.1:/srv /srv/shared");
        json!({
            "counts": { "elapsed_ms": 2000, (of("operations")): 100, (of("retransmissions")): sent_again, (of("timeouts")): 0,
                        (of("queue_ms")): 200, (of("rtt_ms")): 100 * rtt_ms, (of("execute_ms")): 100 * rtt_ms + 200 },
            "levels": { "round_trip_us 10.78.1.1:/srv /srv/shared": 300 },
        })
    }

    /// A case of `node` that wrote to the server.
    pub fn written(node: &str, rtt_ms: u64, sent_again: u64) -> CaseRecord {
        let mut case = case(node, "fs:/srv/shared");
        let Ok(id) = format!("storage.file@{node}").parse();
        (case.case, case.bench) = (id, "storage.file".to_owned());
        case.evidence.insert("probes".to_owned(), json!({ node: { "nfs": counts(rtt_ms, sent_again) } }));
        case
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fixture::{counts, written};
    use super::*;

    #[test]
    fn the_time_is_shared_by_server_queue_and_what_is_sent_again() {
        let case = written("n1", 17, 0);
        let all = served(&case);
        let [served] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(
            (served.node, served.export.as_str(), served.round_trip_ms),
            ("n1", "10.78.1.1:/srv", Some(0.3))
        );
        assert_eq!(served.longest(), Some(("WRITE", 100, 17.0)));
        // 1.9 s of requests in 2 s: 1.7 s at the server, 0.2 s in the queue.
        let (server, queue, rest) = served.shares();
        assert!((server - 0.85).abs() < 1e-9 && (queue - 0.1).abs() < 1e-9 && rest.abs() < 1e-9);
        // Requests that overlap fill the time, and share it.
        let case = written("n1", 38, 0);
        let (server, queue, _) = super::served(&case)[0].shares();
        assert!((server - 0.95).abs() < 1e-9 && (queue - 0.05).abs() < 1e-9, "{server} {queue}");
    }

    #[test]
    fn only_the_mount_of_the_case_counts_whatever_its_name() {
        let mut case = written("n1", 17, 0);
        case.subject = "fs:/scratch".parse().expect("a subject");
        assert_eq!(served(&case), []);
        case.subject = "fs:/srv/my files".parse().expect("a subject");
        let text = counts(17, 0).to_string().replace("/srv/shared", "/srv/my\\\\040files");
        let reading: serde_json::Value = serde_json::from_str(&text).expect("a document");
        case.evidence.insert("probes".to_owned(), json!({ "n1": { "nfs": reading } }));
        assert_eq!(served(&case).len(), 1);
    }
}
