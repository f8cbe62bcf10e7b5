//! `seatrial run`.

use std::collections::BTreeMap;

use seatrial_bench::Benchmark;
use seatrial_engine::Factors;
use seatrial_model::name::benchmark_meant;
use seatrial_model::profile::Test;
use seatrial_model::record::BenchmarkOptions;
use seatrial_model::{Alias, Parts};
use seatrial_profile::SHIPPED;

use crate::args::RunArgs;
use crate::command::settings::tried::{self, WantedSettings};
use crate::error::CliError;
use crate::exit::Exit;
use crate::options;
use crate::params;
use crate::session::{self, Job};

pub fn run(args: &RunArgs) -> Result<Exit, CliError> {
    let options = options::of_run(args)?;
    session::run(|| job(&options.bench), &args.measure, options.clone(), false)
}

pub fn job(options: &BenchmarkOptions) -> Result<Job, CliError> {
    let mut named = Vec::new();
    for id in &options.benchmarks {
        let found = Named::find(id, options.pattern.as_deref());
        named.push(found.map_err(|error| with_nodes(error, id, &options.benchmarks))?);
    }
    let load = options.beside.as_deref().map(|id| Named::find(id, options.pattern.as_deref())).transpose()?;
    if let Some(load) = load.as_ref().filter(|load| named.iter().any(|of| of.group == load.group)) {
        let text = format!("--beside {}: a benchmark does not run beside itself; name another", load.group);
        return Err(CliError::Usage(text));
    }
    let abouts: Vec<_> = named.iter().chain(&load).map(|named| named.bench.about).collect();
    let single: Vec<_> =
        abouts.iter().filter(|about| matches!(about.parts, Parts::One(_))).map(|about| about.id).collect();
    if let Some(option) = pairing_option(options).filter(|_| !single.is_empty()) {
        let ids = single.join(", ");
        let others = match single.len() < abouts.len() {
            true => format!(", or run {ids} without the others"),
            false => String::new(),
        };
        let text = format!(
            "leave out {option}: it is for benchmarks between nodes, and {ids} measures each node by itself{others}"
        );
        return Err(CliError::Usage(text));
    }
    let factors = factors(options, &named)?;
    refuse_set(&options.params, &named)?;
    let mut shares = params::share_out(&options.params, &abouts)?;
    if let (Some(_), Some((of_load, measured))) = (&load, shares.split_last_mut()) {
        of_load.retain(|name, _| !measured.iter().any(|of| of.contains_key(name)));
    }
    let count = named.len();
    let tests = named.iter().chain(&load).zip(shares).enumerate().map(|(at, (named, params))| Test {
        id: named.group.clone(),
        bench: named.bench.about.id.to_owned(),
        pattern: named
            .alias
            .and_then(|alias| alias.pattern)
            .map(str::to_owned)
            .or_else(|| options.pattern.clone()),
        params: named.with_own(params),
        rounds: options.rounds,
        links: options.links,
        beside: load.as_ref().filter(|_| at < count).map(|load| load.group.clone()),
        groups: options.groups.clone(),
        ..Test::default()
    });
    let tests: Vec<Test> = tests.collect();
    Ok(match factors {
        None => Job::of(tests),
        Some(Studied::Parameters(factors)) => Job { factors: Some(factors), ..Job::of(tests) },
        Some(Studied::Settings(settings)) => Job { settings: Some(settings), ..Job::of(tests) },
    })
}

/// The first given option that only benchmarks between nodes use.
fn pairing_option(options: &BenchmarkOptions) -> Option<&'static str> {
    let BenchmarkOptions { pattern, rounds, links, groups, .. } = options;
    let given = [
        ("--pattern", pattern.is_some()),
        ("--rounds", rounds.is_some()),
        ("--links", links.is_some()),
        ("--groups", groups.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
}

/// The error for an unknown benchmark `id`. Words after the first that have no dot are usually nodes.
fn with_nodes(error: CliError, id: &str, benchmarks: &[String]) -> CliError {
    let nodes: Vec<&str> =
        benchmarks.iter().skip(1).map(String::as_str).filter(|name| !name.contains(['.', '='])).collect();
    if nodes.contains(&id) && seatrial_registry::REGISTRY.alias(id).is_none() && !id.contains('=') {
        return CliError::Usage(format!("{error}; nodes go to -w {}", nodes.join(",")));
    }
    if id.contains('=') {
        return CliError::Usage(format!("there is no benchmark '{id}'; parameters go to -p {id}"));
    }
    error
}

/// A benchmark as typed, perhaps by an alias that implies its pattern or parameters.
struct Named {
    group: String,
    bench: &'static Benchmark,
    alias: Option<&'static Alias>,
}

impl Named {
    fn find(id: &str, pattern: Option<&str>) -> Result<Self, CliError> {
        let registry = seatrial_registry::REGISTRY;
        let alias = registry.alias(id);
        let other = pattern.filter(|it| alias.and_then(|alias| alias.pattern).is_some_and(|own| own != *it));
        if let (Some(alias), Some(pattern)) = (alias, other) {
            return Err(contradiction(alias, &format!("--pattern {pattern}")));
        }
        let bench = registry.find(alias.map_or(id, |alias| alias.bench)).ok_or_else(|| {
            if SHIPPED.iter().any(|shipped| shipped.name == id) {
                return CliError::Usage(format!(
                    "{id} is a profile: `seatrial check {id}` measures and judges"
                ));
            }
            let meant = benchmark_meant(id, &registry.names().collect::<Vec<_>>());
            CliError::Usage(format!("there is no benchmark '{id}' (`seatrial list` shows all){meant}"))
        })?;
        Ok(Self { group: id.to_owned(), bench, alias })
    }

    /// The parameters of its test: those given, and those that its name sets.
    fn with_own(&self, mut params: BTreeMap<String, Vec<String>>) -> BTreeMap<String, Vec<String>> {
        params.extend(self.alias.into_iter().flat_map(Alias::values));
        params
    }
}

/// An option says something else than the name of the benchmark.
fn contradiction(alias: &Alias, option: &str) -> CliError {
    CliError::Usage(format!(
        "{} is {}: leave out {option}, or run {} with it",
        alias.id,
        alias.meaning(),
        alias.bench
    ))
}

/// Refuses a parameter that the name of its benchmark sets, unless another benchmark takes it.
fn refuse_set(params: &BTreeMap<String, Vec<String>>, named: &[Named]) -> Result<(), CliError> {
    let sets = |named: &Named, param: &str| {
        named.alias.is_some_and(|alias| alias.params.iter().any(|(own, _)| *own == param))
    };
    for name in params.keys() {
        let takes = |named: &&Named| named.bench.about.param(name).is_some() && !sets(named, name);
        let by = named.iter().find(|named| sets(named, name)).and_then(|named| named.alias);
        if let Some(alias) = by.filter(|_| !named.iter().any(|named| takes(&named))) {
            return Err(contradiction(alias, &format!("-p {name}=")));
        }
    }
    Ok(())
}

/// What a study varies.
enum Studied {
    Parameters(Factors),
    Settings(WantedSettings),
}

/// The study of factors, if requested: of parameters of one benchmark, or of settings of the hosts.
fn factors(options: &BenchmarkOptions, named: &[Named]) -> Result<Option<Studied>, CliError> {
    if options.factors.is_empty() {
        return Ok(None);
    }
    let usage = |text: String| Err(CliError::Usage(text));
    let repeats = options.repeats.unwrap_or(Factors::REPEATS);
    let seed = options.seed.unwrap_or(Factors::SEED);
    let kinds = options.factors.iter().filter_map(|typed| setting(typed, named).transpose());
    let kinds = kinds.collect::<Result<Vec<String>, CliError>>()?;
    if let Some(id) = kinds.first() {
        if options.crossed {
            return usage(format!("--crossed is for parameters, and {id} is a setting of the hosts"));
        }
        let is_parameter = |name: &str| named.iter().any(|named| is_known(named.bench, name));
        if let Some(name) = options.factors.iter().map(|typed| name(typed)).find(|name| is_parameter(name)) {
            return usage(format!(
                "--factors: {id} is a setting of the hosts and {name} a parameter of the benchmark; measure them in two runs"
            ));
        }
        let settings = tried::of_factors(&options.factors)?;
        return Ok(Some(Studied::Settings(WantedSettings { settings, typed: true, repeats, seed })));
    }
    if named.len() != 1 {
        return usage(format!("--factors takes one benchmark, not {}", named.len()));
    }
    if options.factors.iter().any(|typed| name(typed).is_empty()) {
        return usage("--factors: a factor has no name".to_owned());
    }
    let (typed, is_crossed) = (options.factors.clone(), options.crossed);
    Ok(Some(Studied::Parameters(Factors { typed, is_crossed, repeats, seed })))
}

/// The name of a factor as typed.
fn name(typed: &str) -> &str {
    typed.split('=').next().unwrap_or(typed).trim()
}

fn is_known(bench: &Benchmark, name: &str) -> bool {
    bench.about.param(name).is_some() || bench.factors.iter().any(|factor| factor.name == name)
}

/// The setting that a factor is; fails where it is one without its family or without a value.
fn setting(typed: &str, named: &[Named]) -> Result<Option<String>, CliError> {
    let name = name(typed);
    if named.iter().any(|named| is_known(named.bench, name)) {
        return Ok(None);
    }
    let plain = name.split('@').next().unwrap_or(name);
    let is_it = |id: &&str| *id == plain || id.split_once('.').is_some_and(|(_, last)| last == plain);
    let registry = seatrial_settings::registry();
    let Some(id) = registry.abouts().map(|about| about.id).find(is_it) else { return Ok(None) };
    if id != plain || !typed.contains('=') {
        let text = format!("--factors {typed}: {id} is a setting of the hosts: write {id}=VALUE");
        return Err(CliError::Usage(text));
    }
    Ok(Some(id.to_owned()))
}
