//! `seatrial compare`.

use seatrial_analysis::compare;
use seatrial_report::compare::{Names, render};
use seatrial_report::compare_json;
use seatrial_store::{Home, HomeEnv, RunFolder};

use crate::args::{CompareArgs, OutputFormat};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Shows runs side by side; the first is what each of the others is held against.
pub fn run(args: &CompareArgs) -> Result<Exit, CliError> {
    let home = Home::resolve(&HomeEnv::of_process())?;
    let mut runs = Vec::new();
    for name in &args.runs {
        runs.push(RunFolder::open(&home.find(name)?)?);
    }
    for damage in runs.iter().flat_map(|run| &run.damage) {
        output::warn(&damage.to_string());
    }
    // clap asks for two at least.
    let Some((first, others)) = runs.split_first() else { return Ok(Exit::USAGE) };
    let first_name = first.name();
    let mut texts = Vec::new();
    let mut documents = Vec::new();
    for other in others {
        let comparison = compare(&first.results, &other.results, None);
        let name = other.name();
        let names = Names { a: &first_name, b: &name };
        match args.output.output {
            OutputFormat::Table => texts.push(render(names, &comparison, output::look(args.output.color))),
            OutputFormat::Json => documents.push(compare_json::value(names, &comparison)),
            OutputFormat::Csv => {
                return Err(CliError::Usage("compare has the forms table and json".to_owned()));
            }
        }
    }
    if args.output.output == OutputFormat::Json {
        let all = serde_json::json!({ "schema": 1, "comparisons": documents });
        texts.push(format!("{all:#}\n"));
    }
    output::print(&texts.join("\n"))?;
    Ok(Exit::MET)
}
