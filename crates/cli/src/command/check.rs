//! `seatrial check`.

use std::io::{IsTerminal, stderr};
use std::path::Path;

use jiff::Zoned;
use jiff::civil::Date;
use seatrial_model::name::family;
use seatrial_model::profile::{Bar, Profile};
use seatrial_model::record::{CaseRecord, ProfileRef};
use seatrial_profile::{Catalog, Diagnostics, Loaded, SHIPPED, Source};
use seatrial_store::{Home, HomeEnv};

use crate::args::{CheckArgs, ColorChoice};
use crate::error::CliError;
use crate::exit::Exit;
use crate::options;
use crate::output;
use crate::roles;
use crate::session::{self, Job};
use crate::stored;

#[cfg(test)]
mod host_profile;
#[cfg(test)]
mod source_tables;

const DEFAULT_PROFILE: &str = "host";

pub fn run(args: &CheckArgs) -> Result<Exit, CliError> {
    session::run(|| job(args), &args.measure, options::of_check(args), args.source_tables)
}

fn job(args: &CheckArgs) -> Result<Job, CliError> {
    let typed = args.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
    let (mut profile, name) = chosen(typed, args.measure.output.color)?;
    if args.source_tables {
        stored::source_tables(Some(&profile))?;
    }
    roles::give(&mut profile, &args.check.roles)?;
    let reference = args.check.reference.as_deref().map(|run| reference(run, &profile)).transpose()?;
    let tests = profile.tests.clone();
    Ok(Job { profile: Some((profile, name)), reference, ..Job::of(tests) })
}

/// Id and records of the run `typed`, for criteria of `profile` that are percentages of a reference.
fn reference(typed: &str, profile: &Profile) -> Result<(String, Vec<CaseRecord>), CliError> {
    let mut bars = profile.criteria.iter().flat_map(|criterion| criterion.bounds.bars());
    if !bars.any(|bar| matches!(bar, Bar::PercentOfReference(_))) {
        return Err(CliError::Usage(format!(
            "--reference {typed}: no criterion of profile {} is a percentage of a reference; write one with \
             {{ percent_of = \"reference\", value = 95 }}, or compare the runs with `seatrial compare`",
            profile.id
        )));
    }
    let run = stored::open(&Home::resolve(&HomeEnv::of_process())?, typed)?;
    Ok((run.name(), run.results))
}

/// The profile `typed`, and its reference for records. Prints its warnings.
pub fn chosen(typed: &str, color: ColorChoice) -> Result<(Profile, ProfileRef), CliError> {
    let source = Source::named(typed);
    if let Some(benchmarks) = benchmarks_of(&source) {
        return Err(CliError::Usage(format!(
            "there is no profile '{typed}'; benchmarks: {}; measure with `seatrial run {}`, or judge this machine \
             with `seatrial check`",
            benchmarks.join(", "),
            benchmarks[0]
        )));
    }
    let color = output::is_colored(color, stderr().is_terminal());
    let loaded = load(&source, Zoned::now().date()).map_err(|found| CliError::profile(&found, color))?;
    if !loaded.warnings.is_empty() {
        output::tell(&loaded.warnings.render(color));
    }
    let file = match &source {
        Source::File(path) => Some(path.display().to_string()),
        _ => None,
    };
    let name = ProfileRef { id: loaded.profile.id.clone(), title: loaded.profile.title.clone(), file };
    Ok((loaded.profile, name))
}

/// The benchmarks that were named in place of a profile: one, or a family.
fn benchmarks_of(source: &Source) -> Option<Vec<&str>> {
    let Source::Shipped(typed) = source else { return None };
    let is_file = || Path::new(&format!("{typed}.toml")).is_file() || Path::new(typed).is_file();
    if SHIPPED.iter().any(|shipped| shipped.name == typed) || is_file() {
        return None;
    }
    let ids = || seatrial_registry::REGISTRY.names();
    let benchmarks: Vec<&str> =
        ids().filter(|id| *id == typed.as_str()).chain(family(typed, ids())).collect();
    (!benchmarks.is_empty()).then_some(benchmarks)
}

/// Loads a profile with the shipped benchmarks and settings.
pub fn load(source: &Source, today: Date) -> Result<Loaded, Diagnostics> {
    let registry = seatrial_registry::REGISTRY;
    let abouts: Vec<_> = registry.abouts().collect();
    let settings: Vec<_> = seatrial_settings::registry().abouts().collect();
    let patterns: Vec<_> = seatrial_engine::PATTERNS.iter().map(|pattern| pattern.id).collect();
    let aliases: Vec<_> = registry.aliases().copied().collect();
    let catalog = Catalog {
        abouts: &abouts,
        planned: registry.planned,
        settings: &settings,
        patterns: &patterns,
        aliases: &aliases,
    };
    seatrial_profile::load(source, SHIPPED, &catalog, today)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(name: &str) -> Loaded {
        let loaded = load(&Source::Shipped(name.to_owned()), Zoned::now().date());
        loaded.unwrap_or_else(|found| panic!("{}", found.render(false)))
    }

    #[test]
    fn every_shipped_profile_is_right_for_the_shipped_benchmarks() {
        for profile in SHIPPED {
            let loaded = shipped(profile.name);
            assert!(loaded.warnings.is_empty(), "{}", profile.name);
            assert_eq!(loaded.profile.id, profile.name);
            assert!(!loaded.profile.title.is_empty() && !loaded.profile.description.is_empty());
            assert!(!(loaded.profile.criteria.is_empty() && loaded.profile.settings.is_empty()));
        }
    }

    #[test]
    fn the_profile_in_the_docs_is_right() {
        let page = include_str!("../../../../docs/profiles.md");
        let text = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
        let source = Source::Text { name: "docs".to_owned(), text: text.to_owned() };
        // A day on which its waiver holds.
        if let Err(found) = load(&source, jiff::civil::date(2026, 11, 21)) {
            panic!("{}", found.render(false));
        }
    }
}
