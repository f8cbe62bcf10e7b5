//! `seatrial compare`, `history` and `report`: commands on stored runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seatrial_model::{Quantity, Unit, Verdict};

use super::{OutputArgs, TableOrJson};

/// Compare two or more runs.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Runs: an id, a unique start or end of an id, `last`, `last~1`, or a run folder; the others are compared with the first. One
    /// run is enough with --as
    #[arg(value_name = "RUN", num_args = 1.., required = true)]
    pub runs: Vec<String>,
    /// Compare parts of runs under names: nodes (n1), devices (gpu:0, n1/gpu:0), directories (/scratch), parameters
    /// (mtu=1500). Parts of one run, each with the first: `compare RUN --as a=n1,b=n2`; parts of several runs, a name
    /// for each run: `compare OLD NEW --as a=n1,b=n2`. A name may have several parts, which are compared in their order
    #[arg(long = "as", value_name = "NAME=PART", value_delimiter = ',', value_parser = named_part)]
    pub parts: Vec<NamedPart>,
    /// Prices by a name of --as or a RUN as typed, such as a=1200,b=900: shows the headline figures per price, ranked
    #[arg(long = "price", value_name = "NAME=AMOUNT", value_delimiter = ',', value_parser = price)]
    pub prices: Vec<Price>,
    /// Unit of the prices, such as EUR
    #[arg(long, value_name = "UNIT", requires = "prices", default_value = "", hide_default_value = true)]
    pub price_unit: String,
    /// Differences proven smaller than this count as the same; with 0 only equal values do
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    pub same_within: f64,
    /// Exit with 1 when a metric is worse or a case newly fails; with 3 when a case could not be measured again, a
    /// metric may be worse, or nothing could be compared
    #[arg(long)]
    pub fail_on_worse: bool,
    /// Print all tables and intervals instead of one table of the headline figures
    #[arg(long)]
    pub details: bool,
    /// Write the comparison as one self-contained HTML page instead of printing it; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "details"])]
    pub html: Option<PathBuf>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}

impl CompareArgs {
    /// The share below which differences count as the same.
    pub fn same_within(&self) -> Option<f64> {
        (self.same_within > 0.0).then_some(self.same_within / 100.0)
    }
}

/// A part of a run and the name under which it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPart {
    pub name: String,
    /// As typed; what it means depends on the run.
    pub part: String,
}

/// The price of one side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    pub name: String,
    pub amount: f64,
}

/// List stored runs, and show the trend of a benchmark from run to run.
#[derive(Clone, Debug, Args)]
pub struct HistoryArgs {
    /// Only runs that measured this benchmark, with the trend of its metrics
    #[arg(value_name = "BENCH")]
    pub benchmark: Option<String>,
    /// Only the trend of this metric
    #[arg(long, value_name = "NAME", requires = "benchmark")]
    pub metric: Option<String>,
    /// Only the last COUNT runs
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}

/// Show the results of a run.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Run: an id, a unique start or end of an id, `last`, `last~1`, or a run folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Print all tables and findings instead of the first screen
    #[arg(long)]
    pub details: bool,
    /// Print the tables of the document that the profile was made from, each cell beside the result and their ratio
    #[arg(long, conflicts_with_all = ["details", "html", "output"])]
    pub source_tables: bool,
    /// Print the nodes with this verdict as one list that Slurm and -w read, such as n[1,4-6], and nothing else
    #[arg(long, value_enum, value_name = "VERDICT", conflicts_with_all = ["details", "source_tables", "html", "output"])]
    pub nodes: Option<NodeVerdict>,
    /// Print another form of the run
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["details", "source_tables", "nodes", "html", "output"])]
    pub form: Option<ReportForm>,
    /// The node that --form is about; needed if the run has several
    #[arg(long, value_name = "NODE", requires = "form")]
    pub node: Option<String>,
    /// Write the run as one self-contained HTML page instead of printing it; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub html: Option<PathBuf>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A form of a run for a certain reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportForm {
    /// Text for a vendor's support: machine, parts with serial numbers, missed criteria, findings, checksum of the evidence
    Ticket,
}

/// The verdict over everything that was judged on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NodeVerdict {
    /// A criterion is not met, or a problem was found
    Fail,
    /// Every judged criterion is met, warnings included
    Pass,
    /// Nothing could be judged, or a criterion could not be judged
    Unknown,
}

impl From<NodeVerdict> for Verdict {
    fn from(verdict: NodeVerdict) -> Self {
        match verdict {
            NodeVerdict::Fail => Self::Fail,
            NodeVerdict::Pass => Self::Pass,
            NodeVerdict::Unknown => Self::Unknown,
        }
    }
}

fn named_part(typed: &str) -> Result<NamedPart, String> {
    let (name, part) = named(typed, "NAME=PART, such as a=n1")?;
    Ok(NamedPart { name: name.to_owned(), part: part.to_owned() })
}

fn price(typed: &str) -> Result<Price, String> {
    let form = "NAME=AMOUNT, such as a=1200";
    let (name, amount) = named(typed, form)?;
    let found = amount.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
    let amount = found.ok_or_else(|| format!("'{amount}' is not a price above 0; write {form}"))?;
    Ok(Price { name: name.to_owned(), amount })
}

/// Splits at the first `=`.
fn named<'a>(typed: &'a str, form: &str) -> Result<(&'a str, &'a str), String> {
    let found = typed.split_once('=').filter(|(name, of)| !name.is_empty() && !of.is_empty());
    found.ok_or_else(|| format!("a name is missing; write {form}"))
}

/// Parses a percentage from 0 to below 100: `2`, `2%`, `0.5 %`.
fn percent(typed: &str) -> Result<f64, String> {
    let quantity: Quantity = typed.parse().map_err(|error| format!("{error}"))?;
    if quantity.unit() != Unit::Count && quantity.unit() != Unit::Percent {
        return Err(format!("a percentage is a plain number, not one in {}", quantity.unit()));
    }
    let value = quantity.value();
    if (0.0..100.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value} % is not from 0 to below 100"))
    }
}
