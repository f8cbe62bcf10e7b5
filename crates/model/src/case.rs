//! One benchmark with one set of parameter values on one subject.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::about::About;
use crate::finding::Finding;
use crate::origin::Origin;
use crate::param::{Params, Value};
use crate::part_placement::PartPlacement;
use crate::profile::fold;
use crate::subject::Subject;
use crate::units::{Bytes, Nanos};

/// The unit of planning, isolation and resuming.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(remote = "Self")]
pub struct Case {
    /// Readable id, unique within a run.
    pub id: CaseId,
    /// Id of the benchmark, `family.test`.
    pub bench: String,
    /// Version of the benchmark; numbers of two versions are not compared.
    pub version: u32,
    /// The node, device, pair or path that is measured.
    pub subject: Subject,
    /// Stable name of the subject: UUID, WWN or PCI address.
    pub key: Option<String>,
    /// The nodes that take part.
    pub nodes: Vec<String>,
    /// The test of the profile, or the benchmark, that asked for the case.
    pub group: String,
    /// Every parameter as asked for, with defaults.
    pub params: Params,
    /// What the plan resolved: values of `auto` parameters, and sizes, devices and CPUs for the parts.
    #[serde(alias = "chosen")]
    pub planned: Params,
    /// Which pattern, step or study made the case.
    #[serde(default, skip_serializing_if = "Origin::is_empty")]
    pub origin: Origin,
    /// Facts of the subject that a profile may select by or require.
    pub facts: Params,
    /// Where each part runs.
    pub places: Vec<PartPlacement>,
    /// Number and duration of trials.
    pub budget: Budget,
    /// What the planned trials write to storage.
    #[serde(default)]
    pub writes: Writes,
    /// Problems of the case that the plan found.
    pub findings: Vec<Finding>,
    /// The case that lost its partner node and that this case repeats with another partner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<CaseId>,
}

crate::origin::reads_schema_1!(Case);

impl Case {
    fn upgrade(&mut self) {
        self.origin.upgrade(&mut self.planned);
    }
}

/// Number and duration of the trials of a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Budget {
    /// Least number of trials.
    pub trials: u32,
    /// Largest number of trials, made while the confidence interval is too wide.
    pub max_trials: u32,
    /// Warm-up time of a trial.
    pub warm_up: Nanos,
    /// Measuring time of a trial.
    pub measure: Nanos,
    /// The part of the measuring time that only slow hardware needs, and that no estimate includes.
    #[serde(default)]
    pub slack: Nanos,
    /// Time to prepare or verify, after which a worker counts as hung.
    pub prepare: Nanos,
    /// The same for connecting to the peers.
    #[serde(default = "Budget::connect_of_two")]
    pub connect: Nanos,
    /// Estimated time of a trial besides warm-up and measuring: start, preparation, verification.
    pub overhead: Nanos,
    /// Wanted half-width of the 95 % interval of the median, in percent of the median.
    pub precision_percent: f64,
}

impl Budget {
    /// That of a case that never runs.
    pub const NOTHING: Self = Self {
        trials: 0,
        max_trials: 0,
        warm_up: Nanos(0),
        measure: Nanos(0),
        slack: Nanos(0),
        prepare: Nanos(0),
        connect: Self::CONNECT,
        overhead: Nanos(0),
        precision_percent: 0.0,
    };

    /// Time to connect for a case of one or two parts.
    pub const CONNECT: Nanos = Nanos::secs(15);

    /// Further time to connect for each further part: the connections of a part are made one after the other.
    const CONNECT_PART: Nanos = Nanos::millis(50);

    fn connect_of_two() -> Nanos {
        Self::CONNECT
    }

    /// Time to connect for a case of so many parts, each of which may connect to every other.
    pub const fn connect_of(parts: usize) -> Nanos {
        Self::CONNECT.plus(Nanos(Self::CONNECT_PART.get().saturating_mul(parts.saturating_sub(2) as u64)))
    }
}

/// What the trials of a case write to storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Writes {
    /// Size of the files.
    pub files: Bytes,
    /// Bytes that all planned trials write, whatever the storage can do: more than `files` where files are filled again.
    pub total: Bytes,
    /// Time in which all planned trials write as fast as the storage can, over and over.
    pub rewriting: Nanos,
}

impl Writes {
    /// Files of `files` bytes, filled this many times.
    pub fn times(files: u64, times: u64) -> Self {
        Self { files: Bytes(files), total: Bytes(files.saturating_mul(times)), rewriting: Nanos(0) }
    }
}

/// Name among what is planned: whether probes are read around the trials; they are where nothing says so.
pub(crate) const PROBES: &str = "probes";

impl Case {
    /// Has no probe read around the trials.
    pub fn leave_out_probes(&mut self) {
        self.planned.set(PROBES, Value::Flag(false));
    }

    /// Whether probes are read around the trials.
    pub fn has_probes(&self) -> bool {
        self.planned.flag(PROBES) != Ok(false)
    }

    /// A case of `about` on `subject` of one `node`, without resolved values and placements.
    pub fn new(about: &About, node: &str, subject: Subject, params: &Params, budget: Budget) -> Self {
        let nodes = vec![node.to_owned()];
        Self {
            id: CaseId::new(about, about.id, &nodes, &subject, params),
            bench: about.id.to_owned(),
            version: about.version,
            subject,
            key: None,
            nodes,
            group: about.id.to_owned(),
            params: params.clone(),
            planned: Params::default(),
            origin: Origin::default(),
            facts: Params::default(),
            places: Vec::new(),
            budget,
            writes: Writes::default(),
            findings: Vec::new(),
            retry_of: None,
        }
    }

    /// The same case, asked for by `group`.
    pub fn in_group(mut self, about: &About, group: &str) -> Self {
        group.clone_into(&mut self.group);
        self.id = CaseId::new(about, group, &self.nodes, &self.subject, &self.params);
        self
    }

    /// The case as the part at `place` gets it. Of more than two parts it has its own place and node only: each of a
    /// thousand parts would be sent the thousand places of all.
    pub fn for_part(&self, place: &PartPlacement) -> Self {
        if self.places.len() <= 2 {
            return self.clone();
        }
        let Self { id, bench, version, subject, key, group, params, planned, origin, facts, .. } = self;
        Self {
            id: id.clone(),
            bench: bench.clone(),
            version: *version,
            subject: subject.clone(),
            key: key.clone(),
            nodes: vec![place.node.clone()],
            group: group.clone(),
            params: params.clone(),
            planned: planned.clone(),
            origin: origin.clone(),
            facts: facts.clone(),
            places: vec![place.clone()],
            budget: self.budget,
            writes: self.writes,
            findings: Vec::new(),
            retry_of: None,
        }
    }

    /// The place of the part at this position.
    pub fn place(&self, index: u32) -> Option<&PartPlacement> {
        self.places.iter().find(|place| place.index == index)
    }

    /// Estimated time of all planned trials, for plans and progress.
    pub fn estimate(&self) -> Nanos {
        Nanos(self.trial_estimate().get().saturating_mul(u64::from(self.budget.trials)))
    }

    /// Estimated time of one trial.
    pub fn trial_estimate(&self) -> Nanos {
        self.budget.warm_up.plus(self.budget.measure.since(self.budget.slack)).plus(self.budget.overhead)
    }

    /// Longest time: with all trials for a narrower interval and all repeats of disturbed trials.
    pub fn longest(&self) -> Nanos {
        let trials = u64::from(self.budget.max_trials.saturating_add(Self::MOST_REPEATS));
        Nanos(self.estimate().get() / u64::from(self.budget.trials.max(1)) * trials)
    }

    /// Disturbed trials of a case that are repeated at most; the record names later ones, which count.
    pub const MOST_REPEATS: u32 = 2;
}

/// The nodes of a case: `n1+n2`, of more than two `n[1-16]`.
pub fn node_names(nodes: &[String]) -> String {
    match nodes {
        [] | [_] | [_, _] => nodes.join("+"),
        many => fold(many),
    }
}

/// Id of a case: `mem.bandwidth@node[kernel=triad,store=nt]`; parameters at their default are left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId(String);

impl CaseId {
    /// The id of `about` on `subject` of `nodes` with `params`, asked for by `group`.
    pub fn new(about: &About, group: &str, nodes: &[String], subject: &Subject, params: &Params) -> Self {
        let changed: Params = params
            .iter()
            .filter(|(name, value)| about.param(name).is_none_or(|spec| spec.default_value() != **value))
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        let group = if group == about.id { String::new() } else { format!("{group}:") };
        let changed = if changed.is_empty() { String::new() } else { format!("[{changed}]") };
        let nodes = node_names(nodes);
        Self(format!("{group}{}@{nodes}/{subject}{changed}", about.id))
    }

    /// The id as it stands in records and on the command line.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A file name for the case: its readable characters, cut short, and an FNV-1a hash of the whole id.
    pub fn file_stem(&self) -> String {
        let hash = self.0.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let readable: String = self
            .0
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
            .take(48)
            .collect();
        format!("{readable}-{hash:016x}")
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::str::FromStr for CaseId {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

crate::text_serde!(CaseId, "Names a case, unique within a run.");
