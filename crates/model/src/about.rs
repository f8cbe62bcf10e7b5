//! The definition of a benchmark, from which list, help, docs and checks are made.

use serde::Serialize;

use crate::limit::{Limit, Limits};
use crate::metric::{MetricSpec, SeriesSpec};
use crate::param::{ParamSpec, Params};
use crate::remedy::Remedy;

/// The description of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct About {
    /// `family.test`, as profiles and the command line name it.
    pub id: &'static str,
    /// Raised when results are no longer comparable with those of the version before.
    pub version: u32,
    /// Title of a few words, for lists.
    pub title: &'static str,
    /// The page in Markdown (`doc.md` of the benchmark's folder).
    pub doc: &'static str,
    /// What to check when a result is bad, the most likely cause first.
    pub checks: &'static [Remedy],
    /// Parameters, in the order that help shows them.
    pub params: &'static [ParamSpec],
    /// Metrics; the first of them that a case has is its headline.
    pub metrics: &'static [MetricSpec],
    /// Results over axes such as size or thread, in the order of the report.
    pub series: &'static [SeriesSpec],
    /// How many parts a case has, and their names.
    pub parts: Parts,
    /// Requirements: libraries, privileges, nodes.
    pub needs: &'static [Need],
    /// Ids of the probes that are read before and after each trial.
    pub probes: &'static [&'static str],
    /// Estimated cost of one case with default parameters.
    pub cost: Cost,
    /// Effect on other work on the node.
    pub interaction: Interaction,
}

/// The parts of a case: how many processes, and what they are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Parts {
    /// One process.
    One(&'static str),
    /// One process; with a pattern for groups of nodes one on each node, at one moment.
    OneOrMore(&'static str),
    /// One process on each node, all nodes in one case unless a pattern says otherwise; a node can be measured by itself.
    AllNodes(&'static str),
    /// Two processes, on two nodes or on one.
    Two([&'static str; 2]),
    /// Two processes, of which the first sends and the second receives, unless the parameter `direction` says otherwise. All
    /// pairs and random pairs of nodes are measured in both directions.
    OneWay([&'static str; 2]),
    /// Two or more processes of one name, on two or more nodes.
    TwoOrMore(&'static str),
}

impl Parts {
    /// Each name once, in the order of the parts.
    pub const fn names(&self) -> &[&'static str] {
        match self {
            Self::One(name) | Self::OneOrMore(name) | Self::AllNodes(name) | Self::TwoOrMore(name) => {
                std::slice::from_ref(name)
            }
            Self::Two(names) | Self::OneWay(names) => names,
        }
    }

    /// Whether a case can have all nodes of a group.
    pub const fn takes_groups(&self) -> bool {
        matches!(self, Self::OneOrMore(_) | Self::AllNodes(_) | Self::TwoOrMore(_))
    }

    /// Whether each node is measured by itself unless a pattern says otherwise.
    pub const fn is_alone(&self) -> bool {
        matches!(self, Self::One(_) | Self::OneOrMore(_))
    }
}

/// A requirement of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A shared library that is opened at run time.
    Library(&'static str),
    /// A privilege, and what it is needed for.
    Privilege(&'static str),
    /// At least this many nodes.
    Nodes(u32),
    /// A directory that the user names.
    Directory,
}

/// What a case costs, for plans and progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Seconds a case takes with default parameters.
    pub seconds: u64,
    /// Bytes written to storage.
    pub written: u64,
}

/// Effect of a benchmark on other work on the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Interaction {
    /// Reads only; no effect.
    Passive,
    /// Saturates a resource; other users of it slow down.
    Loads(&'static str),
    /// Changes the system while it runs and restores it afterwards.
    Disrupts(&'static str),
}

impl About {
    /// Defaults of a benchmark with one part, `worker`; each benchmark sets the other fields.
    pub const WORKER: Self = Self {
        id: "",
        version: 1,
        title: "",
        doc: "",
        checks: &[],
        params: &[],
        metrics: &[],
        series: &[],
        parts: Parts::One("worker"),
        needs: &[],
        probes: &["steal", "vmstat"],
        cost: Cost { seconds: 0, written: 0 },
        interaction: Interaction::Passive,
    };

    /// The limit of each metric.
    pub fn limits(&self, limit: impl Fn(&str) -> Limit) -> Limits {
        self.metrics.iter().map(|metric| (metric.name.to_owned(), limit(metric.name))).collect()
    }

    /// The metric of that name.
    pub fn metric(&self, name: &str) -> Option<&'static MetricSpec> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The metric by which pattern `isolate` compares groups of nodes.
    pub fn isolating(&self) -> Option<&'static MetricSpec> {
        self.metrics.iter().find(|metric| metric.isolates)
    }

    /// The series of that name.
    pub fn series(&self, name: &str) -> Option<&'static SeriesSpec> {
        self.series.iter().find(|series| series.name == name)
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Every parameter with its default.
    pub fn defaults(&self) -> Params {
        self.params.iter().map(|param| (param.name.to_owned(), param.default_value())).collect()
    }
}

/// A benchmark that is not implemented yet: profiles may name it, and its criteria are judged `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Planned {
    /// `family.test`, the id in profiles.
    pub id: &'static str,
    /// Names of its metrics with units.
    pub metrics: &'static [MetricSpec],
}
