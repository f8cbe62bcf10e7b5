//! `seatrial compare`.

use seatrial_analysis::{Comparison, changed, compare};
use seatrial_model::Site;
use seatrial_model::record::CaseRecord;
use seatrial_report::compare::{Names, render};
use seatrial_report::compare_json;
use seatrial_store::{Home, HomeEnv, RunFolder};

use crate::args::{CompareArgs, OutputFormat};
use crate::error::CliError;
use crate::exit::Exit;
use crate::{output, samples};

/// One run of a comparison.
struct Run {
    name: String,
    results: Vec<CaseRecord>,
    site: Site,
}

/// Shows runs side by side; the first is what each of the others is held against.
pub fn run(args: &CompareArgs) -> Result<Exit, CliError> {
    let home = Home::resolve(&HomeEnv::of_process())?;
    let mut runs = Vec::new();
    for name in &args.runs {
        let run = RunFolder::open(&home.find(name)?)?;
        for damage in &run.damage {
            output::warn(&damage.to_string());
        }
        let mut results = run.results.clone();
        samples::put_back(&run, &mut results);
        runs.push(Run { name: run.name(), results, site: run.site()? });
    }
    // clap asks for two at least.
    let Some((first, others)) = runs.split_first() else { return Ok(Exit::USAGE) };
    let mut texts = Vec::new();
    let mut documents = Vec::new();
    let mut comparisons = Vec::new();
    for other in others {
        let mut comparison = compare(&first.results, &other.results, args.same_within());
        comparison.changed = changed(&first.site, &other.site);
        let names = Names { a: &first.name, b: &other.name };
        match args.output.output {
            OutputFormat::Table => texts.push(render(names, &comparison, output::look(args.output.color))),
            OutputFormat::Json => documents.push(compare_json::value(names, &comparison)),
            OutputFormat::Csv => {
                return Err(CliError::Usage("compare has the forms table and json".to_owned()));
            }
        }
        comparisons.push(comparison);
    }
    if args.output.output == OutputFormat::Json {
        let all = serde_json::json!({ "schema": 1, "comparisons": documents });
        texts.push(format!("{all:#}\n"));
    }
    output::print(&texts.join("\n"))?;
    Ok(if args.fail_on_worse { exit(&comparisons) } else { Exit::MET })
}

/// How a comparison ends that is a gate.
fn exit(comparisons: &[Comparison]) -> Exit {
    if comparisons.iter().any(Comparison::is_worse) {
        Exit::NOT_MET
    } else if comparisons.iter().any(Comparison::is_incomplete) {
        Exit::INCOMPLETE
    } else {
        Exit::MET
    }
}
