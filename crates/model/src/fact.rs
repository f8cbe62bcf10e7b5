//! Facts in the evidence of a part or a case that one crate writes and another reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::sample::Evidence;

/// A fact with a fixed name in the evidence.
pub trait Fact: Serialize + DeserializeOwned {
    /// Name of the fact in the evidence.
    const NAME: &'static str;

    /// The fact, if `evidence` holds it in this form.
    fn of(evidence: &Evidence) -> Option<Self> {
        Self::deserialize(evidence.get(Self::NAME)?).ok()
    }

    /// Puts the fact into `evidence`, replacing an earlier one.
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
    /// Increase of each counter, by name; a name ends with the unit, if any.
    pub counts: BTreeMap<String, u64>,
    /// Last reading of each gauge.
    pub levels: BTreeMap<String, u64>,
    /// New lines of a log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LogLine>,
    /// Number of new lines left out of `lines`.
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_left_out: u64,
    /// Counters that decreased, so that the increase is unknown.
    pub backwards: BTreeSet<String>,
    /// Counters that could not be read, with reasons.
    pub unreadable: BTreeSet<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A line of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Sequence number in the log, the same for every reader.
    pub sequence: u64,
    /// Its level in the words of syslog(3): `err`, `warning`.
    pub level: String,
    /// Text without control characters.
    pub text: String,
}

/// What each probe of a part read, by the probe's id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProbeReadings(pub BTreeMap<String, ProbeReading>);

impl Fact for ProbeReadings {
    const NAME: &'static str = "probes";
}

/// The moment at which all parts of a trial on several nodes were to begin to measure, in nanoseconds of the clock of the part's
/// node. The part has none where the clock of a node was not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgreedStart(pub u64);

impl Fact for AgreedStart {
    const NAME: &'static str = "agreed_ns";
}

/// Readings of each probe over all trials of a case, by node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeReadings(pub BTreeMap<String, ProbeReadings>);

impl Fact for NodeReadings {
    const NAME: &'static str = ProbeReadings::NAME;
}

impl NodeReadings {
    /// Readings of `probe` on each node.
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

/// Payload over one path in one direction in all trials of a case, to be compared with the counters of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Payload that arrived, in bytes.
    pub bytes: u64,
    /// Bytes that may have been in buffers when the counters were read: in the payload or in the counters, not in
    /// both.
    #[serde(default)]
    pub buffered: u64,
    /// Interface or port at the sending end, where the benchmark chose it: one of several rails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<PathEnd>,
    /// Interface or port at the receiving end, where the benchmark chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<PathEnd>,
}

/// The interface or port whose counters count the bytes at one end of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathEnd {
    /// Name of a network interface.
    Interface(String),
    /// An RDMA port, such as `mlx5_0/1`.
    Port(String),
    /// Whichever of the node: a library chooses its way.
    Any,
}

/// Payload that a case moved, one row per path and direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MovedRows(pub Vec<Moved>);

impl MovedRows {
    /// Under what name `planned` of a case whose library chooses its way says whether all nodes have an active RDMA port.
    pub const ACTIVE_HCA: &str = "active_hca";
}

impl Fact for MovedRows {
    const NAME: &'static str = "moved";
}

/// A trial during which other processes used the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "DisturbedForm")]
pub struct DisturbedTrial {
    /// Index of the trial, from 0.
    pub trial: u32,
    /// Which process used what, in words.
    pub why: String,
}

/// Forms of a disturbed trial: schema 1 held `trial 3: why`.
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

/// The disturbed trials of a case, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DisturbedTrials(pub Vec<DisturbedTrial>);

impl Fact for DisturbedTrials {
    const NAME: &'static str = "disturbed_trials";
}

/// Number of disturbed trials, counted from the first, that were repeated and are not in the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepeatedTrials(pub u32);

impl Fact for RepeatedTrials {
    const NAME: &'static str = "repeated_trials";
}

/// Number of completed trials of a case without numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CompletedTrials(pub u32);

impl Fact for CompletedTrials {
    const NAME: &'static str = "trials_completed";
}

/// Other processes that used one GPU while it was measured, as its driver lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherProcesses {
    /// Their process ids; null where the driver lists ids of another PID namespace (in a container) or none at all.
    pub others: Option<Vec<u32>>,
    /// Names of the processes that still ran at the end, by process id.
    pub other_names: BTreeMap<String, String>,
}

/// Other processes on each GPU of a case, by PCI address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GpuProcesses(pub BTreeMap<String, OtherProcesses>);

impl Fact for GpuProcesses {
    const NAME: &'static str = "watch";
}

/// Loss of each flow in the last trial of a TCP stream.
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
    /// The end that sends.
    #[serde(default)]
    pub sender: FlowEnd,
}

/// An end of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowEnd {
    /// Its socket.
    #[serde(default)]
    pub socket: FlowSocket,
}

/// The socket of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSocket {
    /// Address and port of the other end; null where nobody knows them.
    #[serde(default)]
    pub peer: Option<String>,
}

/// The shares of a flow's segments and acknowledgements that were lost, duplicated or late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LossShare {
    /// 0 to 1; null where the kernel does not count it.
    pub lost: Option<f64>,
    /// Number of the lost segments.
    #[serde(default)]
    pub lost_segments: u64,
    /// Share of the acknowledgements, 0 to 1; null where a kernel does not count them.
    #[serde(default)]
    pub acknowledgements_lost: Option<f64>,
    /// Share of the segments, 0 to 1, that came twice without being sent twice; null where a kernel does not count them.
    #[serde(default)]
    pub duplicated: Option<f64>,
    /// Share of the segments, 0 to 1, that were sent again although they only came late; null where a kernel does not count them.
    #[serde(default)]
    pub reordered: Option<f64>,
}

/// The address of each node in the network that a case measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Addresses(pub BTreeMap<String, IpAddr>);

impl Fact for Addresses {
    const NAME: &'static str = "addresses";
}

/// What kept a rate below its limit, the largest share first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HeldBack(pub Vec<Hold>);

impl Fact for HeldBack {
    const NAME: &'static str = "held_back";
}

/// One cause, and for how long it held the rate back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hold {
    /// The cause in plain words.
    pub what: String,
    /// Share of the measured time, 0 to 1. All shares of a case are 1 together at most; time of undisturbed transfer may be
    /// in them.
    pub share: f64,
    /// Whether the counted data moved in this share too, so that what they need at the limit is no loss.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub moves_data: bool,
    /// Time lost per time that the counted data need at the limit, as a ratio: bytes moved beside the counted ones, or a
    /// link slower than the limit.
    #[serde(skip_serializing_if = "is_nothing")]
    pub beside: f64,
    /// The counter that says so.
    pub source: String,
}

fn is_nothing(ratio: &f64) -> bool {
    *ratio == 0.0
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
