//! Facts in the evidence of a part or a case that one crate writes and another reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::sample::Evidence;

/// A fact with a name of its own in the evidence.
pub trait Fact: Serialize + DeserializeOwned {
    /// The name that it has in the evidence.
    const NAME: &'static str;

    /// The fact of that name, if `evidence` holds one of this form.
    fn of(evidence: &Evidence) -> Option<Self> {
        Self::deserialize(evidence.get(Self::NAME)?).ok()
    }

    /// Puts the fact into `evidence`, in the place of an earlier one.
    fn put(&self, evidence: &mut Evidence) {
        if let Ok(value) = serde_json::to_value(self) {
            evidence.insert(Self::NAME.to_owned(), value);
        }
    }
}

/// What one probe read on one node while a case was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProbeReading {
    /// How far each counter advanced, by its name, which ends with its unit where it has one.
    pub counts: BTreeMap<String, u64>,
    /// The last reading of each number that goes up and down.
    pub levels: BTreeMap<String, u64>,
    /// Lines that a log gained, by their numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LogLine>,
    /// Lines that the log gained beyond those.
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_left_out: u64,
    /// Counters that went backwards, so that nothing can be said about them.
    pub backwards: BTreeSet<String>,
    /// What could not be read, with the reasons.
    pub unreadable: BTreeSet<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A line of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Its number in the log, the same for all who read the log.
    pub sequence: u64,
    /// Its level in the words of syslog(3): `err`, `warning`.
    pub level: String,
    /// Its text without control characters.
    pub text: String,
}

/// What each probe of a part read, by the probe's id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProbeReadings(pub BTreeMap<String, ProbeReading>);

impl Fact for ProbeReadings {
    const NAME: &'static str = "probes";
}

/// What the probes of a case read over all of its trials, by node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeReadings(pub BTreeMap<String, ProbeReadings>);

impl Fact for NodeReadings {
    const NAME: &'static str = ProbeReadings::NAME;
}

impl NodeReadings {
    /// What `probe` read on each node, without the other probes.
    pub fn of_probe<'a>(
        evidence: &'a Evidence,
        probe: &'a str,
    ) -> impl Iterator<Item = (&'a str, ProbeReading)> {
        let nodes = evidence.get(Self::NAME).and_then(serde_json::Value::as_object).into_iter().flatten();
        nodes.filter_map(move |(node, probes)| {
            Some((node.as_str(), ProbeReading::deserialize(probes.get(probe)?).ok()?))
        })
    }
}

/// Payload that went over one path in one direction, over all trials of a case: the counters of the path must show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The node that sent.
    pub from: String,
    /// The node that received.
    pub to: String,
    /// Bytes of payload that arrived.
    pub bytes: u64,
    /// Bytes that may have been in buffers when the counters were read, so that only one of payload and counters has them.
    #[serde(default)]
    pub buffered: u64,
    /// The interface at both ends, where the benchmark knows it better than the plan: one of several rails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// The same of the end that sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<PathEnd>,
    /// The same of the end that received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<PathEnd>,
}

/// What counts the bytes of a path at one of its ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathEnd {
    /// A network interface by its name.
    Interface(String),
    /// An RDMA port, such as `mlx5_0/1`.
    Port(String),
}

/// Everything that a case moved, one row a path and direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MovedRows(pub Vec<Moved>);

impl Fact for MovedRows {
    const NAME: &'static str = "moved";
}

/// A trial during which others used the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "DisturbedForm")]
pub struct DisturbedTrial {
    /// The trial, from 0.
    pub trial: u32,
    /// Who used what, in words.
    pub why: String,
}

/// The forms that a disturbed trial had: schema 1 held `trial 3: why`.
#[derive(Deserialize)]
#[serde(untagged)]
enum DisturbedForm {
    Now { trial: u32, why: String },
    Text(String),
}

impl From<DisturbedForm> for DisturbedTrial {
    fn from(form: DisturbedForm) -> Self {
        match form {
            DisturbedForm::Now { trial, why } => Self { trial, why },
            DisturbedForm::Text(text) => {
                let parts = text.strip_prefix("trial ").and_then(|text| text.split_once(": "));
                let known = parts.and_then(|(trial, why)| Some((trial.parse().ok()?, why.to_owned())));
                let (trial, why) = known.unwrap_or((u32::MAX, text));
                Self { trial, why }
            }
        }
    }
}

impl fmt::Display for DisturbedTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trial {}: {}", self.trial, self.why)
    }
}

/// The disturbed trials of a case in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DisturbedTrials(pub Vec<DisturbedTrial>);

impl Fact for DisturbedTrials {
    const NAME: &'static str = "disturbed_trials";
}

/// How many of the disturbed trials, the first ones, were repeated and are not in the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepeatedTrials(pub u32);

impl Fact for RepeatedTrials {
    const NAME: &'static str = "repeated_trials";
}

/// Trials that came to their end in a case without numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CompletedTrials(pub u32);

impl Fact for CompletedTrials {
    const NAME: &'static str = "trials_completed";
}

/// Other processes that computed on one GPU while it was measured, as its driver lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherProcesses {
    /// Their process ids; none where the driver lists ids of another namespace (in a container) or lists nothing.
    pub others: Option<Vec<u32>>,
    /// The names of those that still ran at the end, by process id.
    pub other_names: BTreeMap<String, String>,
}

/// The other processes on each GPU of a case, by its PCI address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GpuProcesses(pub BTreeMap<String, OtherProcesses>);

impl Fact for GpuProcesses {
    const NAME: &'static str = "watch";
}

/// What each flow of the last trial of a TCP stream lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LastFlows(pub Vec<FlowLoss>);

impl Fact for LastFlows {
    const NAME: &'static str = "flows_of_last_trial";
}

/// The loss of one flow, beside other facts of the flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowLoss {
    /// Shares of the flow's time and segments.
    pub shares: LossShare,
}

/// The share of a flow's segments that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LossShare {
    /// 0 to 1; none where the kernel does not count.
    pub lost: Option<f64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn disturbed_trials_of_schema_1_are_read() {
        let evidence = Evidence::from([("disturbed_trials".to_owned(), json!(["trial 3: dd took 40 %"]))]);
        let read = DisturbedTrials::of(&evidence).expect("read");
        assert_eq!(read.0, [DisturbedTrial { trial: 3, why: "dd took 40 %".to_owned() }]);
        assert_eq!(read.0[0].to_string(), "trial 3: dd took 40 %");
        let mut written = Evidence::new();
        read.put(&mut written);
        assert_eq!(written["disturbed_trials"], json!([{ "trial": 3, "why": "dd took 40 %" }]));
        assert_eq!(DisturbedTrials::of(&written), Some(read));
    }

    #[test]
    fn a_fact_is_read_as_it_was_put_and_other_forms_are_none() {
        let mut evidence = Evidence::new();
        assert_eq!(ProbeReadings::of(&evidence), None);
        let counts = BTreeMap::from([("steal_ns".to_owned(), 7)]);
        let reading = ProbeReading { counts, ..ProbeReading::default() };
        let readings = ProbeReadings(BTreeMap::from([("steal".to_owned(), reading)]));
        readings.put(&mut evidence);
        assert_eq!(ProbeReadings::of(&evidence), Some(readings));
        let empty = json!({ "counts": { "steal_ns": 7 }, "levels": {}, "backwards": [], "unreadable": [] });
        assert_eq!(evidence["probes"]["steal"], empty);
        evidence.insert("probes".to_owned(), json!([1]));
        assert_eq!(ProbeReadings::of(&evidence), None);
    }
}
