//! `seatrial profile`.

use std::collections::BTreeMap;

use seatrial_analysis::{DraftRun, draft};
use seatrial_model::Site;
use seatrial_model::profile::{Role, Test};
use seatrial_report::draft::toml;
use seatrial_store::{Home, HomeEnv, StoredRun};

use crate::args::{DraftArgs, ProfileArgs, ProfileCommand};
use crate::error::CliError;
use crate::exit::Exit;
use crate::{options, output, stored};

pub fn run(args: &ProfileArgs) -> Result<Exit, CliError> {
    match &args.command {
        ProfileCommand::Draft(args) => drafted(args),
    }
}

struct Good {
    run: StoredRun,
    site: Site,
    tests: Vec<Test>,
    roles: BTreeMap<String, Role>,
}

fn drafted(args: &DraftArgs) -> Result<Exit, CliError> {
    let home = Home::resolve(&HomeEnv::of_process())?;
    let mut good = Vec::new();
    for name in &args.runs {
        let run = stored::open(&home, name)?;
        let (tests, roles) = asked(&run)?;
        good.push(Good { site: run.site()?, run, tests, roles });
    }
    let names: Vec<String> = good.iter().map(|good| good.run.name()).collect();
    let runs: Vec<DraftRun<'_>> = good
        .iter()
        .zip(&names)
        .map(|(good, id)| DraftRun {
            id,
            results: &good.run.results,
            site: &good.site,
            tests: good.tests.clone(),
            roles: good.roles.clone(),
        })
        .collect();
    let abouts: Vec<_> = seatrial_registry::REGISTRY.abouts().collect();
    let draft = draft(&runs, &abouts, args.all_metrics);
    if draft.profile.criteria.is_empty() {
        let why: Vec<String> = draft.left_out.iter().map(|what| format!("\n  {what}")).collect();
        return Err(CliError::Usage(format!(
            "no bound can be derived from {}:{}",
            names.join(", "),
            why.concat()
        )));
    }
    output::print(&toml(&draft, &names))?;
    Ok(Exit::MET)
}

/// Tests and roles of a run: of its profile, else of its command line.
fn asked(run: &StoredRun) -> Result<(Vec<Test>, BTreeMap<String, Role>), CliError> {
    if let Some(profile) = run.profile()?.into_present() {
        return Ok((profile.tests, profile.roles));
    }
    let info = run.info()?;
    let options = options::of_record(info).bench;
    if options.benchmarks.is_empty() {
        let text = format!("run {}: this version cannot parse its command line: {:?}", info.id, info.command);
        return Err(CliError::Usage(text));
    }
    let job = super::run::job(&options)?;
    if run.results.iter().any(|record| record.origin.study.is_some()) {
        let text = format!(
            "run {}: a study of factors measures gains, from which no bounds can be derived",
            info.id
        );
        return Err(CliError::Usage(text));
    }
    Ok((job.tests, BTreeMap::new()))
}
