//! What a benchmark says of itself: the one definition that list, help, docs and checks come from.

use crate::limit::{Limit, Limits};
use crate::metric::{MetricSpec, SeriesSpec};
use crate::param::{ParamSpec, Params};

/// The description of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct About {
    /// `family.test`, as profiles and the command line name it.
    pub id: &'static str,
    /// Rises when numbers stop being comparable with older ones.
    pub version: u32,
    /// A few words for lists.
    pub title: &'static str,
    /// The page in Markdown (`doc.md` of the benchmark's folder).
    pub doc: &'static str,
    /// Parameters, in the order that help shows them.
    pub params: &'static [ParamSpec],
    /// Metrics; the first of them that a case has is its headline.
    pub metrics: &'static [MetricSpec],
    /// Results over axes such as size or thread, in the order of the report.
    pub series: &'static [SeriesSpec],
    /// Names of the parts, for example `worker` or `sender`, `receiver`.
    pub parts: &'static [&'static str],
    /// What must be there.
    pub needs: &'static [Need],
    /// Ids of the probes read before and after each trial.
    pub probes: &'static [&'static str],
    /// Estimated cost of one case with defaults.
    pub cost: Cost,
    /// What running it does to others on the node.
    pub interaction: Interaction,
}

/// Something a benchmark needs to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A library that is found at run time.
    Library(&'static str),
    /// A privilege, with what for.
    Privilege(&'static str),
    /// At least this many nodes.
    Nodes(u32),
    /// A directory the person names.
    Directory,
}

/// What a case costs, for plans and progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Seconds a case takes with default parameters.
    pub seconds: u64,
    /// Bytes written to storage.
    pub written: u64,
}

/// What a benchmark disturbs while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interaction {
    /// Reads only, nobody notices.
    Passive,
    /// Uses a resource fully; others on it are slowed.
    Loads(&'static str),
    /// Changes something while it runs, and puts it back.
    Disrupts(&'static str),
}

impl About {
    /// What a benchmark of one part a case begins with; the other fields are for the benchmark to fill.
    pub const WORKER: Self = Self {
        id: "",
        version: 1,
        title: "",
        doc: "",
        params: &[],
        metrics: &[],
        series: &[],
        parts: &["worker"],
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

/// A benchmark that is still to come: profiles may name it, and it judges as unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// `family.test`, as profiles may name it already.
    pub id: &'static str,
    /// Names of its metrics with units.
    pub metrics: &'static [MetricSpec],
}
