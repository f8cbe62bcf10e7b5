//! `seatrial compare`.

use seatrial_analysis::{Comparison, changed, compare};
use seatrial_model::Site;
use seatrial_model::record::{CaseRecord, RunInfo};
use seatrial_report::compare::{Names, render, value};
use seatrial_report::html;
use seatrial_store::{Home, HomeEnv, RunFolder};

use crate::args::{CompareArgs, TableOrJson};
use crate::error::CliError;
use crate::exit::Exit;
use crate::{output, samples};

struct Run {
    name: String,
    info: Option<RunInfo>,
    results: Vec<CaseRecord>,
    site: Site,
}

pub fn run(args: &CompareArgs) -> Result<Exit, CliError> {
    let home = Home::resolve(&HomeEnv::of_process())?;
    let runs = args.runs.iter().map(|name| Run::read(&home, name)).collect::<Result<Vec<_>, _>>()?;
    // clap requires at least two.
    let Some((first, others)) = runs.split_first() else { return Ok(Exit::USAGE) };
    let of = |other: &Run| Comparison {
        changed: changed(&first.site, &other.site),
        ..compare(&first.results, &other.results, args.same_within())
    };
    let comparisons: Vec<Comparison> = others.iter().map(of).collect();
    show(args, first, others, &comparisons)?;
    Ok(if args.fail_on_worse { exit(&comparisons) } else { Exit::MET })
}

impl Run {
    fn read(home: &Home, name: &str) -> Result<Self, CliError> {
        let run = RunFolder::open(&home.find(name)?)?;
        for damage in &run.damage {
            output::warn(&damage.to_string());
        }
        let (name, site, info) = (run.name(), run.site()?, run.info.present().cloned());
        let mut results = run.results.clone();
        samples::put_back(&run, &mut results);
        Ok(Self { name, info, results, site })
    }

    fn shown(&self) -> html::Run<'_> {
        html::Run { name: &self.name, info: self.info.as_ref() }
    }
}

fn show(args: &CompareArgs, first: &Run, others: &[Run], comparisons: &[Comparison]) -> Result<(), CliError> {
    let pairs = || others.iter().zip(comparisons);
    if let Some(file) = &args.html {
        let compared: Vec<_> =
            pairs().map(|(run, comparison)| html::Compared { run: run.shown(), comparison }).collect();
        let command: Vec<String> = std::env::args().collect();
        return output::page(file, |out| html::write_comparison(first.shown(), &compared, &command, out));
    }
    let named = pairs().map(|(run, comparison)| (Names { a: &first.name, b: &run.name }, comparison));
    match args.output.output {
        TableOrJson::Table => {
            let style = output::text_style(args.output.color);
            let texts: Vec<String> =
                named.map(|(names, comparison)| render(names, comparison, style)).collect();
            output::print(&texts.join("\n"))
        }
        TableOrJson::Json => {
            let all: Vec<_> = named.map(|(names, comparison)| value(names, comparison)).collect();
            output::print(&format!("{:#}\n", serde_json::json!({ "schema": 1, "comparisons": all })))
        }
    }
}

/// Exit code of `--fail-on-worse`.
fn exit(comparisons: &[Comparison]) -> Exit {
    if comparisons.iter().any(Comparison::is_worse) {
        Exit::NOT_MET
    } else if comparisons.iter().any(Comparison::is_incomplete) {
        Exit::INCOMPLETE
    } else {
        Exit::MET
    }
}
