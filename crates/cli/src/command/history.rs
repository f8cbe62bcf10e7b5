//! `seatrial history`.

use seatrial_report::history::{Row, render};
use seatrial_store::{Home, HomeEnv, MetricFilter, RunRow, Source};

use crate::args::{HistoryArgs, OutputFormat};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Shows the runs so far.
pub fn run(args: &HistoryArgs) -> Result<Exit, CliError> {
    let home = Home::resolve(&HomeEnv::of_process())?;
    let history = home.history()?;
    let mut rows: Vec<Row> = history.runs.into_iter().map(row).collect();
    if let Some(bench) = &args.benchmark {
        let filter = MetricFilter { bench: Some(bench.clone()), ..MetricFilter::default() };
        let metrics = home.metrics(&filter)?;
        rows.retain(|row| metrics.rows.iter().any(|metric| metric.run == row.id));
    }
    let remark = match history.source {
        Source::Index => None,
        Source::Folders { why } => {
            Some(format!("read from the run folders, since the index cannot be used: {why}"))
        }
    };
    match args.output.output {
        OutputFormat::Table => {
            output::print(&render(&rows, remark.as_deref(), output::look(args.output.color)))?;
        }
        OutputFormat::Json => {
            output::print(&format!(
                "{:#}\n",
                serde_json::json!({ "schema": 1, "runs": rows, "remark": remark })
            ))?;
        }
        OutputFormat::Csv => return Err(CliError::Usage("history has the forms table and json".to_owned())),
    }
    Ok(Exit::MET)
}

fn row(run: RunRow) -> Row {
    let summary = run.summary;
    let command = summary.command.unwrap_or_default();
    Row {
        id: run.id,
        state: run.state.word().to_owned(),
        started: summary.started,
        ended: summary.ended.map(|end| end.at),
        verdict: summary.verdict,
        what: summary.profile.unwrap_or_else(|| command.get(1..).unwrap_or_default().join(" ")),
        nodes: summary.nodes,
        measured: summary.measured,
        planned: summary.planned,
        remark: summary.unreadable,
    }
}
