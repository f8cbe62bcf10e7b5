//! `seatrial history`.

use jiff::Timestamp;
use seatrial_analysis::{Trend, TrendRun, trends};
use seatrial_engine::PlanError;
use seatrial_model::record::CaseRecord;
use seatrial_report::history::{HistoryRow, render};
use seatrial_report::trend;
use seatrial_store::{Home, HomeEnv, RunFolder, RunRow};

use crate::args::{HistoryArgs, TableOrJson};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

pub fn run(args: &HistoryArgs) -> Result<Exit, CliError> {
    let home = Home::resolve(&HomeEnv::of_process())?;
    let runs = home.history()?;
    if let Some(bench) = &args.benchmark {
        require_known(bench, &runs)?;
    }
    let shown = runs
        .into_iter()
        .filter(|run| args.benchmark.as_ref().is_none_or(|bench| run.summary.benches.contains(bench)));
    let mut rows: Vec<HistoryRow> = shown.map(row).collect();
    if let Some(last) = args.last {
        rows.drain(..rows.len().saturating_sub(last as usize));
    }
    let trends = match &args.benchmark {
        Some(bench) => trends_of(&home, bench, args.metric.as_deref(), &rows),
        None => Vec::new(),
    };
    match args.output.output {
        TableOrJson::Table => {
            let style = output::text_style(args.output.color);
            let mut text = match &args.benchmark {
                Some(bench) if rows.is_empty() => {
                    format!("no run measured {bench} yet; `seatrial run {bench}` makes one\n")
                }
                _ => render(&rows, style),
            };
            if !trends.is_empty() {
                text += "\n";
                text += &trend::render(&trends, style);
            }
            output::print(&text)?;
        }
        TableOrJson::Json => {
            let mut document = serde_json::json!({ "schema": 1, "runs": rows });
            if args.benchmark.is_some() {
                document["trends"] = trend::value(&trends);
            }
            output::print(&format!("{document:#}\n"))?;
        }
    }
    Ok(Exit::MET)
}

/// Refuses a benchmark that neither this build nor any run has.
fn require_known(bench: &str, runs: &[RunRow]) -> Result<(), CliError> {
    let registry = seatrial_registry::REGISTRY;
    let measured = runs.iter().flat_map(|run| &run.summary.benches).map(String::as_str);
    let mut known = registry.abouts().map(|about| about.id).chain(measured);
    if known.any(|id| id == bench) {
        return Ok(());
    }
    if let Some(alias) = registry.alias(bench) {
        let text =
            format!("{bench} is {}: `seatrial history {}` shows its runs", alias.meaning(), alias.bench);
        return Err(CliError::Usage(text));
    }
    let nearest = registry.nearest(bench).map(str::to_owned);
    Err(PlanError::UnknownBenchmark { id: bench.to_owned(), nearest }.into())
}

struct Measured {
    id: String,
    started: Timestamp,
    results: Vec<CaseRecord>,
}

/// Trends of `bench` over the runs of `rows`. Read from the run folders, since summaries have neither stable keys nor
/// parameters; the summary tells which folders to read.
fn trends_of(home: &Home, bench: &str, metric: Option<&str>, rows: &[HistoryRow]) -> Vec<Trend> {
    let mut runs = Vec::new();
    for row in rows {
        let Some(started) = row.started else { continue };
        match RunFolder::open(&home.runs().join(&row.id)) {
            Ok(run) => {
                let mut results = run.results;
                results.retain(|case| case.bench == bench);
                if let Some(metric) = metric {
                    results.iter_mut().for_each(|case| case.metrics.retain(|name, _| name == metric));
                }
                runs.push(Measured { id: row.id.clone(), started, results });
            }
            // The list shows it too, as the remark of the run.
            Err(error) => output::warn(&format!("{}: {error}", row.id)),
        }
    }
    let all: Vec<TrendRun<'_>> = runs
        .iter()
        .map(|run| TrendRun { id: &run.id, started: run.started, results: &run.results })
        .collect();
    trends(&all)
}

fn row(run: RunRow) -> HistoryRow {
    let summary = run.summary;
    let command = summary.command.unwrap_or_default();
    HistoryRow {
        id: run.id,
        state: run.state.word().to_owned(),
        started: summary.started,
        ended: summary.ended.map(|end| end.at),
        seconds: summary.seconds,
        verdict: summary.verdict,
        what: summary.profile.unwrap_or_else(|| command.get(1..).unwrap_or_default().join(" ")),
        nodes: summary.nodes,
        measured: summary.measured,
        planned: summary.planned,
        problems: summary.problems,
        remark: summary.unreadable,
    }
}
