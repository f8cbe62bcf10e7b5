//! `seatrial run`.

use seatrial_bench::Benchmark;
use seatrial_engine::{ALIASES, Factors, alias};
use seatrial_model::name::benchmark_meant;
use seatrial_model::profile::Test;
use seatrial_model::record::BenchmarkOptions;
use seatrial_model::{Alias, Parts};
use seatrial_profile::SHIPPED;

use crate::args::RunArgs;
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
    let mut shares = params::share_out(&options.params, &abouts)?;
    if let (Some(_), Some((of_load, measured))) = (&load, shares.split_last_mut()) {
        of_load.retain(|name, _| !measured.iter().any(|of| of.contains_key(name)));
    }
    let count = named.len();
    let tests = named.iter().chain(&load).zip(shares).enumerate().map(|(at, (named, params))| Test {
        id: named.group.clone(),
        bench: named.bench.about.id.to_owned(),
        pattern: named.alias.map(|alias| alias.pattern.to_owned()).or_else(|| options.pattern.clone()),
        params,
        rounds: options.rounds,
        links: options.links,
        beside: load.as_ref().filter(|_| at < count).map(|load| load.group.clone()),
        groups: options.groups.clone(),
        ..Test::default()
    });
    Ok(Job { tests: tests.collect(), profile: None, factors, reference: None })
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
    if nodes.contains(&id) && alias(id).is_none() && !id.contains('=') {
        return CliError::Usage(format!("{error}; nodes go to -w {}", nodes.join(",")));
    }
    if id.contains('=') {
        return CliError::Usage(format!("there is no benchmark '{id}'; parameters go to -p {id}"));
    }
    error
}

/// A benchmark as typed, perhaps by an alias that implies its pattern.
struct Named {
    group: String,
    bench: &'static Benchmark,
    alias: Option<&'static Alias>,
}

impl Named {
    fn find(id: &str, pattern: Option<&str>) -> Result<Self, CliError> {
        let registry = seatrial_registry::REGISTRY;
        let alias = alias(id);
        if let (Some(alias), Some(pattern)) =
            (alias, pattern.filter(|it| alias.is_some_and(|a| a.pattern != *it)))
        {
            return Err(CliError::Usage(format!(
                "{id} is {} with the pattern {}: leave out --pattern {pattern}, or run {} with it",
                alias.bench, alias.pattern, alias.bench
            )));
        }
        let bench = registry.find(alias.map_or(id, |alias| alias.bench)).ok_or_else(|| {
            if SHIPPED.iter().any(|shipped| shipped.name == id) {
                return CliError::Usage(format!(
                    "{id} is a profile: `seatrial check {id}` measures and judges"
                ));
            }
            let known = registry.abouts().map(|about| about.id).chain(ALIASES.iter().map(|alias| alias.id));
            let meant = benchmark_meant(id, &known.collect::<Vec<_>>());
            CliError::Usage(format!("there is no benchmark '{id}' (`seatrial list` shows all){meant}"))
        })?;
        Ok(Self { group: id.to_owned(), bench, alias })
    }
}

/// The study of factors, if requested. A host setting is refused as a factor: Seatrial changes no setting by itself.
fn factors(options: &BenchmarkOptions, named: &[Named]) -> Result<Option<Factors>, CliError> {
    if options.factors.is_empty() {
        return Ok(None);
    }
    let [Named { bench, .. }] = named else {
        let text = format!("--factors takes one benchmark, not {}", named.len());
        return Err(CliError::Usage(text));
    };
    for typed in &options.factors {
        let name = typed.split('=').next().unwrap_or(typed).trim();
        if name.is_empty() {
            return Err(CliError::Usage("--factors: a factor has no name".to_owned()));
        }
        let is_known =
            bench.about.param(name).is_some() || bench.factors.iter().any(|factor| factor.name == name);
        let settings = seatrial_settings::registry();
        let is_it = |id: &&str| *id == name || id.split_once('.').is_some_and(|(_, last)| last == name);
        let setting = settings.abouts().map(|about| about.id).find(is_it).filter(|_| !is_known);
        if let Some(id) = setting {
            return Err(CliError::Usage(format!(
                "--factors {name}: {id} is a host setting, which a run never changes; measure, set it with `seatrial \
                 settings apply {id}=VALUE`, measure again, compare the runs with `seatrial compare last~1 last`, \
                 and take it back with `seatrial settings restore`"
            )));
        }
    }
    Ok(Some(Factors {
        typed: options.factors.clone(),
        is_crossed: options.crossed,
        repeats: options.repeats.unwrap_or(Factors::REPEATS),
        seed: options.seed.unwrap_or(Factors::SEED),
    }))
}
