//! One benchmark with one set of parameter values on one subject.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::about::About;
use crate::finding::Finding;
use crate::origin::Origin;
use crate::param::Params;
use crate::part_placement::PartPlacement;
use crate::subject::Subject;
use crate::units::Nanos;

/// The unit of planning, isolation and resuming.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(remote = "Self")]
pub struct Case {
    /// Readable and unique within a run.
    pub id: CaseId,
    /// Id of the benchmark, `family.test`.
    pub bench: String,
    /// Version of the benchmark; numbers of two versions are not compared.
    pub version: u32,
    /// The node, device, pair or path that is measured.
    pub subject: Subject,
    /// A name of the subject that survives renumbering: UUID, WWN, PCI address.
    pub key: Option<String>,
    /// The nodes that take part.
    pub nodes: Vec<String>,
    /// The test of the profile, or the benchmark, that asked for the case.
    pub group: String,
    /// Every parameter as asked for, defaults too.
    pub params: Params,
    /// What the plan fixed: the values that `auto` came to, by parameter, and what else the parts must know, such as
    /// sizes, devices and CPUs.
    #[serde(alias = "chosen")]
    pub planned: Params,
    /// Why it is there.
    #[serde(default, skip_serializing_if = "Origin::is_empty")]
    pub origin: Origin,
    /// Facts of the subject that a profile may select by or require.
    pub facts: Params,
    /// Where each part runs.
    pub places: Vec<PartPlacement>,
    /// How long and how often.
    pub budget: Budget,
    /// What the plan already knows to be wrong with this case.
    pub findings: Vec<Finding>,
    /// The case that lost its partner and that this one stands in for, with another partner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<CaseId>,
}

crate::origin::reads_schema_1!(Case);

impl Case {
    fn upgrade(&mut self) {
        self.origin.upgrade(&mut self.planned);
    }
}

/// How long and how often a case is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Budget {
    /// Trials that are always made.
    pub trials: u32,
    /// Trials at most, while the interval is too wide.
    pub max_trials: u32,
    /// Warm-up of a trial.
    pub warm_up: Nanos,
    /// Measuring time of a trial.
    pub measure: Nanos,
    /// Time a worker may take to prepare or to verify, before it counts as hung.
    pub prepare: Nanos,
    /// Estimated time of a trial beside warm-up and measuring: start, preparation, check of the data.
    pub overhead: Nanos,
    /// The wanted half-width of the 95 % interval of the median, in percent of the median.
    pub precision_percent: f64,
}

impl Case {
    /// A case of `about` on `subject` of one `node`, with nothing chosen and nobody placed yet.
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

    /// The time all its trials take when none is repeated: an estimate for plans and progress.
    pub fn estimate(&self) -> Nanos {
        Nanos(self.trial_estimate().get().saturating_mul(u64::from(self.budget.trials)))
    }

    /// The time one of its trials takes.
    pub fn trial_estimate(&self) -> Nanos {
        self.budget.warm_up.plus(self.budget.measure).plus(self.budget.overhead)
    }

    /// The same with all trials that may be made: while the interval is too wide, and in place of disturbed ones.
    pub fn longest(&self) -> Nanos {
        let trials = u64::from(self.budget.max_trials.saturating_add(Self::MOST_REPEATS));
        Nanos(self.estimate().get() / u64::from(self.budget.trials.max(1)) * trials)
    }

    /// Disturbed trials of a case that are repeated; later ones count, and the record says so.
    pub const MOST_REPEATS: u32 = 2;
}

/// Names a case: `mem.bandwidth@node[kernel=triad,store=nt]`, with only the parameters that are not default.
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
        Self(format!("{group}{}@{}/{subject}{changed}", about.id, nodes.join("+")))
    }

    /// The id as it stands in records and on the command line.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name for a file of this case: the readable characters, cut short, and a hash of the whole (FNV-1a).
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
