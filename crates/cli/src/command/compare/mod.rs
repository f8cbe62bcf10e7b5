//! `seatrial compare`.

mod sides;

use seatrial_analysis::{ComparedCases, Comparison, apart, changed_parts, compare, curves, per_price};
use seatrial_model::Site;
use seatrial_model::record::{CaseRecord, RunInfo};
use seatrial_report::compare::{CompareContent, Compared, render, value};
use seatrial_report::html;
use seatrial_store::{Home, HomeEnv};

use self::sides::{Side, check, prices, sides};
use crate::args::{CompareArgs, TableOrJson};
use crate::error::CliError;
use crate::exit::Exit;
use crate::{output, samples, stored};

struct Run {
    /// As on the command line.
    typed: String,
    name: String,
    info: Option<RunInfo>,
    results: Vec<CaseRecord>,
    site: Site,
}

pub fn run(args: &CompareArgs) -> Result<Exit, CliError> {
    check(args)?;
    let home = Home::resolve(&HomeEnv::of_process())?;
    let runs = args.runs.iter().map(|typed| Run::read(&home, typed)).collect::<Result<Vec<_>, _>>()?;
    let sides = sides(&runs, &args.parts)?;
    // At least two, see `sides`.
    let Some((first, others)) = sides.split_first() else { return Ok(Exit::USAGE) };
    let of = |other: &Side<'_>| Comparison {
        changed: changed_parts((&first.run.site, &first.parts), (&other.run.site, &other.parts)),
        ..compare(&first.cases, &other.cases, args.same_within())
    };
    let comparisons: Vec<Comparison> = others.iter().map(of).collect();
    show(args, &sides, &comparisons)?;
    Ok(if args.fail_on_worse { exit(&comparisons) } else { Exit::MET })
}

impl Run {
    fn read(home: &Home, typed: &str) -> Result<Self, CliError> {
        let run = stored::open(home, typed)?;
        let (name, site, info) = (run.name(), run.site()?, run.info.present().cloned());
        let mut results = run.results.clone();
        samples::put_back(&run, &mut results);
        Ok(Self { typed: typed.to_owned(), name, info, results, site })
    }
}

fn show(args: &CompareArgs, sides: &[Side<'_>], comparisons: &[Comparison]) -> Result<(), CliError> {
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    let cases: Vec<ComparedCases<'_>> = sides.iter().map(|side| side.cases.clone()).collect();
    let apart = apart(&cases, comparisons);
    let legend = apart.texts.filter(|_| args.parts.is_empty()).unwrap_or_else(|| names.clone());
    let prices = prices(args, sides)?;
    // The text for a terminal draws no curves.
    let is_text = args.html.is_none() && matches!(args.output.output, TableOrJson::Table);
    let curves = if is_text { Vec::new() } else { curves(&cases, &apart.params) };
    let compared = Compared {
        names: &names,
        legend: &legend,
        comparisons,
        curves: &curves,
        per_price: &per_price(comparisons, &prices),
        price_unit: &args.price_unit,
    };
    if let Some(file) = &args.html {
        let sides: Vec<html::ComparedSide<'_>> = sides.iter().map(Side::shown).collect();
        let command: Vec<String> = std::env::args().collect();
        return output::page(file, |out| html::write_comparison(&compared, &sides, &command, out));
    }
    match args.output.output {
        TableOrJson::Table => {
            let content = if args.details { CompareContent::Details } else { CompareContent::Summary };
            output::print(&render(&compared, content, output::text_style(args.output.color)))
        }
        TableOrJson::Json => output::print(&format!("{:#}\n", value(&compared))),
    }
}

/// Exit code of `--fail-on-worse`.
fn exit(comparisons: &[Comparison]) -> Exit {
    if comparisons.iter().any(Comparison::is_worse) {
        Exit::NOT_MET
    } else if comparisons.iter().any(|one| one.is_incomplete() || one.may_be_worse()) {
        Exit::INCOMPLETE
    } else {
        Exit::MET
    }
}
