//! One measuring run from plan to exit code, for `run` and `check`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use jiff::Timestamp;
use seatrial_analysis::{Assignment, Bisection};
use seatrial_bench::Registry;
use seatrial_cluster::{Fleet, Hello, NodeIndex, read_counters};
use seatrial_engine::{
    BackOff, Bisect, Demand, Factors, Finished, LoadSweeps, NothingJudged, Plan, PlanInputs, Regroup, Retest,
    RunError, Runner, Sides, Standing, Study, Suspect, Suspects, TimeBudget, WantedGroups, Watch, makespan,
};
use seatrial_model::profile::{Profile, Test};
use seatrial_model::record::{
    CaseRecord, Document, LauncherChoice, NodeOptions, ProfileRef, RunEnd, RunInfo, RunOptions, RunTime,
    SCHEMA_VERSION,
};
use seatrial_model::{Case, CaseId, Event, Nanos, Outcome, Site, SiteNode, Verdict};
use seatrial_report::repeat_command;
use seatrial_store::{Home, HomeEnv, Journal, RunFolder, StoreError, Tool};
use serde_json::json;

use crate::args::{MeasureArgs, OutputFormat};
use crate::command::report;
use crate::command::settings::tried::{self, WantedSettings};
use crate::command::settings::worth;
use crate::demand::Demanded;
use crate::directories::warn_of_missing;
use crate::error::CliError;
use crate::exit::Exit;
use crate::only_line::{self, Told};
use crate::progress::Progress;
use crate::signals::Signals;
use crate::time_account::TimeAccount;
use crate::{earlier, fleet, judge, open_cases, options, output, roles, stored};

pub struct Job {
    pub tests: Vec<Test>,
    pub profile: Option<(Profile, ProfileRef)>,
    /// Factors of a study, of the only test.
    pub factors: Option<Factors>,
    /// Settings of the hosts whose effect is measured.
    pub settings: Option<WantedSettings>,
    /// Id and records of the reference run, where the profile needs one.
    pub reference: Option<(String, Vec<CaseRecord>)>,
}

impl Job {
    /// Nothing but `tests`.
    pub fn of(tests: Vec<Test>) -> Self {
        Self { tests, profile: None, factors: None, settings: None, reference: None }
    }
}

/// What a run prints when it has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Result,
    /// The tables of the profile's document.
    SourceTables,
    /// One line.
    Gate,
}

/// How a run ends.
#[derive(Clone, Copy)]
struct Ending {
    /// A warning is no success.
    strict: bool,
    shown: Shown,
}

/// Measures `job`, or the rest of the run `args.resume`; prints the tables of the profile's document if asked for
/// `source_tables`.
pub fn run(
    job: impl FnOnce() -> Result<Job, CliError>,
    args: &MeasureArgs,
    options: RunOptions,
    source_tables: bool,
) -> Result<Exit, CliError> {
    let shown = if source_tables { Shown::SourceTables } else { Shown::Result };
    let ending = Ending { strict: options.check.strict, shown };
    if let Some(name) = &args.resume {
        return resume(name, args, ending, options.bench.yes);
    }
    begin(job()?, args, options, ending, &Home::resolve(&HomeEnv::of_process())?, None)
}

/// Measures as much of `job` as `within` is enough for, keeps the run in `home`, and prints one line.
pub fn gate(
    job: Job,
    args: &MeasureArgs,
    options: RunOptions,
    home: &Home,
    within: Nanos,
) -> Result<Exit, CliError> {
    begin(job, args, options, Ending { strict: false, shown: Shown::Gate }, home, Some(within))
}

fn begin(
    job: Job,
    args: &MeasureArgs,
    mut options: RunOptions,
    ending: Ending,
    home: &Home,
    within: Option<Nanos>,
) -> Result<Exit, CliError> {
    let registry = seatrial_registry::REGISTRY;
    let mut fleet = fleet::launch(&options.nodes, args.script.as_deref())?;
    let mut site = site_of(fleet.as_ref());
    let absent = absent(fleet.as_ref());
    let names: Vec<String> = site
        .nodes
        .iter()
        .map(|node| &node.name)
        .chain(absent.iter().map(|(name, _)| name))
        .cloned()
        .collect();
    roles::are_here(&options.check.roles, &names)?;
    let roles = job.profile.as_ref().map(|(profile, _)| Assignment::new(profile, &names, &BTreeMap::new()));
    let plays = |node: &str, wanted: &[String]| {
        roles.as_ref().is_none_or(|roles| wanted.is_empty() || roles.plays(node, wanted))
    };
    let inputs = PlanInputs { site: &site, absent: &absent, plays: &plays };
    if job.settings.is_some() && options.nodes.share_hosts {
        let text = "--share-hosts: a setting of one node would be one of its neighbour too; leave it out";
        return Err(CliError::Usage(text.to_owned()));
    }
    let tried = job.settings.as_ref().map(|settings| settings.on(&site)).transpose()?;
    let mut plan = match (&tried, &job.factors, job.tests.as_slice()) {
        (Some(tried), ..) => tried.blocks.plan(&job.tests, &registry, inputs)?,
        (None, Some(factors), [test]) => factors.plan(test, &registry, inputs)?,
        _ => Plan::new(&job.tests, &registry, inputs)?,
    };
    if let Some(tried) = &tried {
        tried.show();
    }
    if let Some(within) = within {
        plan.keep_within(within);
    }
    if args.plan {
        return show_plan(plan, &site, &registry, args, &options.nodes);
    }
    if let Some(tried) = &tried {
        tried.confirm(options.bench.yes)?;
    }
    if args.script.is_none() {
        options.nodes = fleet::settled(&options.nodes);
    }
    let info = RunInfo {
        id: String::new(),
        seatrial: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args().collect(),
        options: Some(options),
        profile: job.profile.as_ref().map(|(_, name)| name.clone()),
        nodes: names,
        started: Timestamp::now(),
        paused_seconds: 0.0,
        ended: None,
    };
    let time_budget = time_budget(&info, job.profile.as_ref().map(|(profile, _)| profile), &plan.cases);
    earlier::note_counters(home, None, &mut site);
    let mut journal = RunFolder::create(home, info)?;
    journal.keep_site(&site)?;
    keep_tool(&mut journal)?;
    if let Some((profile, _)) = &job.profile {
        journal.keep_profile(profile)?;
    }
    if let Some((name, records)) = &job.reference {
        journal.keep_reference(name, records)?;
    }
    let settled = plan.records(&absent);
    let work = Work {
        site,
        plan: plan.cases,
        settled,
        done: Vec::new(),
        profile: job.profile.map(|(profile, _)| profile),
        reference: job.reference.map(|(_, records)| records),
        time_budget,
    };
    work.measure(registry, fleet.as_mut(), journal, args, ending).map_err(CliError::begun)
}

/// Prints what would run.
fn show_plan(
    mut plan: Plan,
    site: &Site,
    registry: &Registry,
    args: &MeasureArgs,
    nodes: &NodeOptions,
) -> Result<Exit, CliError> {
    if args.script.is_none() && fleet::settled(nodes).launcher == Some(LauncherChoice::Local) {
        warn_of_missing(&mut plan.cases, registry);
    }
    let time = |of: fn(&Case) -> Nanos| makespan(&plan.cases, site, nodes.share_hosts, of);
    let abouts: Vec<_> = registry.abouts().collect();
    let left_out = [plan.settled, plan.without_nodes].concat();
    if args.output.output == OutputFormat::Json {
        let settled: Vec<_> =
            left_out.iter().map(|(case, why)| json!({ "case": case, "reason": why })).collect();
        let text =
            json!({ "schema": 1, "cases": plan.cases, "settled": settled, "estimate": time(Case::estimate) });
        output::print(&format!("{text:#}\n"))?;
        return Ok(Exit::MET);
    }
    output::print(&seatrial_report::plan::render(
        &plan.cases,
        &left_out,
        &abouts,
        [time(Case::estimate), time(Case::longest)],
        output::text_style(args.output.color),
    ))?;
    Ok(Exit::MET)
}

fn resume(name: &str, args: &MeasureArgs, ending: Ending, yes: bool) -> Result<Exit, CliError> {
    let registry = seatrial_registry::REGISTRY;
    let home = Home::resolve(&HomeEnv::of_process())?;
    let path = home.find(name)?;
    // Refused before anything of the run is changed.
    let run = RunFolder::open(&path)?;
    if ending.shown == Shown::SourceTables {
        stored::source_tables(run.profile()?.into_present().as_ref())?;
    }
    if let Some(damage) = run.plan.damage() {
        return Err(StoreError::Unreadable { id: run.name(), why: damage.to_string() }.into());
    }
    let mut info = run.info()?.clone();
    if !home.holds(&path) {
        options::forget_commands(&mut info);
    }
    let named = options::named_nodes(&info, &run.site()?);
    let options = options::resumed(&info, &named, &args.options.nodes, ending.strict)?;
    info.options = Some(options.clone());
    let nodes = repeat_command::reaching(&named, &info);
    fleet::check(&nodes)?;
    let mut resumed = RunFolder::resume(&path)?;
    let cases = match resumed.run.plan.present() {
        // All cases: those with records are not run again, but tell which nodes are possible partners. A retry of a
        // case that is run again is dropped, unless that case loses its partner again.
        Some(plan) => {
            let open = resumed.run.open();
            let stands_in = |case: &Case| case.retry_of.as_ref().is_some_and(|lost| open.contains(lost));
            plan.cases().filter(|case| !stands_in(case)).cloned().collect()
        }
        // It ended without a plan: every case was skipped.
        None if resumed.run.info()?.ended.as_ref().is_some_and(|end| end.signal.is_none()) => Vec::new(),
        None => {
            let (name, command) = (resumed.run.name(), repeat_command::line(&resumed.run.info()?.command));
            let text = format!("run {name} was stopped before it had a plan; start a new run: {command}");
            return Err(CliError::Usage(text));
        }
    };
    let done = resumed.run.finished().map(|record| record.case.as_str()).collect();
    tried::confirm_rest(&cases, &done, yes)?;
    let ending = Ending { strict: options.check.strict, ..ending };
    let mut fleet = fleet::launch(&nodes, args.script.as_deref())?;
    // Only after nodes were reached.
    resumed.journal.go_on(options)?;
    let mut site = site_of(fleet.as_ref());
    seatrial_analysis::changed_since(&resumed.run.site()?, &mut site);
    earlier::note_counters(&home, Some(&info.id), &mut site);
    // Judgements use what is stored.
    resumed.journal.keep_site(&site)?;
    keep_tool(&mut resumed.journal)?;
    let profile = resumed.run.profile()?.into_present();
    let time_budget = time_budget(resumed.run.info()?, profile.as_ref(), &cases);
    let work = Work {
        site,
        plan: cases,
        settled: Vec::new(),
        done: resumed.run.finished().cloned().collect(),
        time_budget,
        profile,
        reference: resumed.run.reference()?.into_present(),
    };
    work.measure(registry, fleet.as_mut(), resumed.journal, args, ending).map_err(CliError::begun)
}

fn keep_tool(journal: &mut Journal) -> Result<(), CliError> {
    match Tool::running(env!("CARGO_PKG_VERSION")) {
        Ok(tool) => journal.keep_tool(&tool)?,
        // A binary that cannot be read still measures; remote agents would not have started.
        Err(error) => tracing::warn!("cannot read this binary to compute its checksum: {error}"),
    }
    Ok(())
}

/// Requested nodes without an agent, with reasons.
fn absent(fleet: &dyn Fleet) -> Vec<(String, String)> {
    fleet.missing().iter().map(|missing| (missing.node.clone(), missing.why.to_string())).collect()
}

pub fn site_of(fleet: &dyn Fleet) -> Site {
    let node = |(at, hello): (usize, &Hello)| {
        let mut node = SiteNode::from(hello);
        if let Some(offset) = fleet.time_of_day_offset(NodeIndex(at)) {
            let reading = seatrial_settings::clock_offset(offset.nanos, offset.error);
            // The node itself could only say that it does not know.
            node.settings
                .iter_mut()
                .filter(|own| own.setting == reading.setting)
                .for_each(|own| *own = reading.clone());
        }
        node
    };
    Site { nodes: fleet.agents().iter().enumerate().map(node).collect() }
}

/// What a run still has to do.
struct Work {
    site: Site,
    plan: Vec<Case>,
    settled: Vec<CaseRecord>,
    done: Vec<CaseRecord>,
    profile: Option<Profile>,
    reference: Option<Vec<CaseRecord>>,
    time_budget: Option<Nanos>,
}

impl Work {
    fn measure(
        mut self,
        registry: Registry,
        fleet: &mut dyn Fleet,
        mut journal: Journal,
        args: &MeasureArgs,
        ending: Ending,
    ) -> Result<Exit, CliError> {
        let signals = Signals::listen()?;
        let _nudging = signals.nudging(fleet.nudge())?;
        let mut progress = match ending.shown {
            Shown::Gate => Progress::silent(),
            Shown::Result | Shown::SourceTables => Progress::new(args.output.color),
        };
        let (mut account, started) = (TimeAccount::default(), Instant::now());
        let mut done = std::mem::take(&mut self.done);
        for record in std::mem::take(&mut self.settled) {
            journal.record(Event::CaseEnded { record: Box::new(record.clone()) })?;
            done.push(record);
        }
        let info = journal.info().clone();
        let mut watch = |event: Event| {
            progress.show(&event);
            account.note(&event, started.elapsed().into());
            journal.record(event).map_err(Into::into)
        };
        let finished = self.run(registry, fleet, &mut watch, signals.flag(), &info, done);
        progress.finish();
        let mut finished = match finished {
            Ok(finished) => finished,
            Err(error) => {
                progress.say(&format!("results so far are in {}", journal.path().display()));
                return Err(error.into());
            }
        };
        let is_stopped = finished.cancelled || signals.flag().load(Ordering::Relaxed);
        // A gate judges what it has.
        if is_stopped && ending.shown != Shown::Gate {
            return interrupted(journal, &signals, &progress);
        }
        for record in open_cases::not_ended(&self.plan, &finished.records).into_iter().filter(|_| is_stopped)
        {
            journal.record(Event::CaseEnded { record: Box::new(record.clone()) })?;
            finished.records.push(record);
        }
        if ending.shown != Shown::Gate {
            let mut has_grown = false;
            for (node, readings) in read_counters(fleet) {
                has_grown |= seatrial_analysis::note_counters_after(&mut self.site, &node, &readings);
            }
            if has_grown {
                journal.keep_site(&self.site)?;
            }
        }
        let planned: HashSet<&CaseId> = self.plan.iter().map(|case| &case.id).collect();
        let rest = open_cases::still_open(&finished.records, &planned, journal.info());
        // Of a resumed run only the last part is known.
        let is_whole = journal.info().paused_seconds == 0.0;
        let time = is_whole.then(|| account.close(started.elapsed().into()));
        let exit = self.conclude(finished, time, journal, args, ending)?;
        if let Some(text) = rest.filter(|_| ending.shown != Shown::Gate) {
            output::warn(&text);
        }
        Ok(exit)
    }

    /// Runs the cases, and what follows from their records.
    fn run(
        &self,
        registry: Registry,
        fleet: &mut dyn Fleet,
        watch: &mut Watch<'_>,
        cancel: &AtomicBool,
        info: &RunInfo,
        done: Vec<CaseRecord>,
    ) -> Result<Finished, RunError> {
        let sweeps = LoadSweeps::new(&self.plan, registry);
        let leave_out = |case: &Case, done: &[CaseRecord]| sweeps.leave_out(case, done);
        let reference = self.reference.as_deref();
        let demanded =
            self.profile.as_ref().map(|profile| Demanded::new(profile, &info.nodes, &self.site, reference));
        let demand: &dyn Demand = demanded.as_ref().map_or(&NothingJudged, |demanded| demanded);
        let options = info.options.as_ref();
        let mut runner = Runner {
            settings_id: &info.id,
            cancel,
            share_hosts: options.is_some_and(|options| options.nodes.share_hosts),
            no_probes: options.is_some_and(|options| options.no_probes),
            leave_out: &leave_out,
            budget: TimeBudget::new(&self.plan, self.time_budget, demand),
            ..Runner::new(registry, &self.site, fleet, watch)
        };
        let sides = |group: &str| sides(self.profile.as_ref(), group);
        let groups = |done: &[CaseRecord]| groups(done, demand);
        let mut study = Study::new(self.plan.clone());
        let is_of_settings = |case: &Case| case.origin.study.as_ref().is_some_and(|of| of.block.is_some());
        // What is measured again with another partner would not be measured in its block.
        if !self.plan.iter().any(is_of_settings) {
            study = study
                .then(Retest::new(&self.plan, registry, &self.site, &sides))
                .then(Regroup::new(registry, &self.site))
                .then(Suspects::new(&self.plan, registry, &self.site, &suspects))
                .then(Bisect::new(registry, &self.site, &groups))
                .then(BackOff::new(&sweeps, registry, &self.site));
        }
        runner.run(study, done)
    }

    fn conclude(
        &self,
        finished: Finished,
        time: Option<RunTime>,
        mut journal: Journal,
        args: &MeasureArgs,
        ending: Ending,
    ) -> Result<Exit, CliError> {
        let (profile, site) = (self.profile.as_ref(), &self.site);
        let is_restored = finished.not_restored.is_empty();
        let mut document = Document {
            schema: SCHEMA_VERSION,
            run: journal.info().clone(),
            results: finished.records,
            findings: Vec::new(),
            verdicts: Vec::new(),
            verdict: None,
        };
        // Waivers end on a day. The day of the run's end is in the record, so that later judgements agree.
        let at = Timestamp::now();
        let advice = judge::judge(&mut document, profile, site, judge::day_of(at), self.reference.as_deref());
        let exit = match is_restored {
            true => exit_of(&document, profile.is_some(), ending.strict),
            // A host that keeps a setting is no end to be content with.
            false => Exit::INCOMPLETE,
        };
        journal.keep_verdicts(&document.findings, &document.verdicts, document.verdict)?;
        let folder = journal.path().to_owned();
        document.run = journal.end(RunEnd { at, exit: exit.0, signal: None, time })?;
        report::keep(&document, site, profile, &folder);
        let content = match ending.shown {
            Shown::Gate => {
                let abouts: Vec<_> = seatrial_registry::REGISTRY.abouts().collect();
                let line = seatrial_report::gate_line(&document, &abouts);
                return match only_line::print(&line, exit) {
                    Ok(()) => Ok(exit),
                    Err(Told::Before(found)) => Ok(found),
                    Err(Told::NotPrinted(error)) => Err(error),
                };
            }
            Shown::SourceTables => stored::source_tables(profile)?,
            Shown::Result => output::content(args.details),
        };
        output::document(&document, &args.output, content, Some(&folder))?;
        if let Some(advice) = advice {
            output::warn(&advice);
        }
        if let Some(file) = document.run.options.as_ref().and_then(|options| options.write.as_ref()) {
            worth::write(&document, file)?;
        }
        Ok(exit)
    }
}

/// Nodes to measure again because they were slow in random pairs.
fn suspects(records: &[CaseRecord]) -> Vec<Suspect> {
    let found = seatrial_analysis::suspects(records).into_iter();
    found.map(|suspect| Suspect { node: suspect.node, case: suspect.case }).collect()
}

/// Groups of nodes to measure because the case over all nodes does not meet its bounds, or has none.
fn groups(records: &[CaseRecord], demand: &dyn Demand) -> Vec<WantedGroups> {
    let found = seatrial_analysis::bisections(records).into_iter();
    let is_open = |whole: &CaseRecord| demand.standing(whole) != Standing::Met;
    let of = |found: Bisection<'_>| WantedGroups { whole: found.whole.case.clone(), steps: found.steps() };
    found.filter(|found| is_open(found.whole)).map(of).collect()
}

/// Time budget per node of a run of `plan`: as typed, or of the profile. The profile's budget is for an ordinary
/// machine; where there is more to measure, the plan may exceed it.
fn time_budget(info: &RunInfo, profile: Option<&Profile>, plan: &[Case]) -> Option<Nanos> {
    let typed = info.options.as_ref().and_then(|options| options.time_budget);
    let mut nodes: BTreeMap<&str, Nanos> = BTreeMap::new();
    for case in plan {
        for node in case.nodes.iter().collect::<BTreeSet<_>>() {
            let time = nodes.entry(node).or_default();
            *time = time.plus(case.estimate());
        }
    }
    let longest = nodes.into_values().max().unwrap_or_default();
    typed.or_else(|| Some(profile?.time_budget?.max(longest)))
}

/// The tested nodes of `group`: with a partner, only the first.
fn sides(profile: Option<&Profile>, group: &str) -> Sides {
    let test = profile.and_then(|profile| profile.tests.iter().find(|test| test.id == group));
    match test.and_then(|test| test.partner.as_ref()) {
        Some(_) => Sides::First,
        None => Sides::Both,
    }
}

/// Ends the run after a signal: results are kept, and how to resume is printed.
fn interrupted(journal: Journal, signals: &Signals, progress: &Progress) -> Result<Exit, CliError> {
    let number = signals.number().unwrap_or(2);
    let exit = Exit::signal(number);
    let name = if number == 15 { "SIGTERM" } else { "SIGINT" };
    let path = journal.path().to_owned();
    let info = journal.end(RunEnd {
        at: Timestamp::now(),
        exit: exit.0,
        signal: Some(name.to_owned()),
        time: None,
    })?;
    progress.say(&format!(
        "stopped by {name}; results so far are in {}\nresume with: {}",
        path.display(),
        repeat_command::resume(&info)
    ));
    Ok(exit)
}

pub fn exit_of_verdict(verdict: Option<Verdict>, strict: bool) -> Exit {
    match verdict {
        Some(Verdict::Pass) => Exit::MET,
        Some(Verdict::Warn) if !strict => Exit::MET,
        Some(Verdict::Fail | Verdict::Warn) => Exit::NOT_MET,
        // A profile of which nothing could be judged is not a pass.
        Some(Verdict::Unknown | Verdict::Skip) | None => Exit::INCOMPLETE,
    }
}

fn exit_of(document: &Document, judged: bool, strict: bool) -> Exit {
    if judged {
        return exit_of_verdict(document.verdict, strict);
    }
    let has = |outcome| document.results.iter().any(|record| record.outcome == outcome);
    if has(Outcome::Failed) {
        Exit::NOT_MET
    } else if has(Outcome::Unmeasured) || !has(Outcome::Measured) {
        Exit::INCOMPLETE
    } else {
        Exit::MET
    }
}
