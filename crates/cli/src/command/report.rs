//! `seatrial report`.

use std::io::{self, Write};
use std::path::Path;

use seatrial_model::profile::Profile;
use seatrial_model::profile::fold;
use seatrial_model::record::Document;
use seatrial_model::{CaseId, PartRecord, Site, SiteNode, Verdict};
use seatrial_report::{export, html, inventory, ticket};
use seatrial_store::{Files, Home, HomeEnv, Piece, RunFolder, State, StoredRun};

use crate::args::{ReportArgs, ReportForm};
use crate::earlier::EarlierRun;
use crate::error::CliError;
use crate::exit::Exit;
use crate::{judge, output, samples, stored};

const PAGE: &str = "report.html";

pub fn run(args: &ReportArgs) -> Result<Exit, CliError> {
    let run = stored::open(&Home::resolve(&HomeEnv::of_process())?, &args.run)?;
    let folder = run.files().folder();
    let (mut document, profile) = stored::document(&run)?;
    if let Some(verdict) = args.nodes {
        nodes(&document, verdict.into())?;
        return Ok(Exit::MET);
    }
    if let Some(ReportForm::Ticket) = args.form {
        ticket(&run, &document, args.node.as_deref())?;
        return Ok(Exit::MET);
    }
    let Some(file) = &args.html else {
        let content = match args.source_tables {
            true => stored::source_tables(profile.as_ref())?,
            false => output::content(args.details),
        };
        output::document(&document, &args.output, content, Some(folder))?;
        return Ok(Exit::MET);
    };
    samples::put_back(&run, &mut document.results);
    let site = run.site()?;
    let parts = |case: &CaseId| parts(run.files(), &document, case);
    let earlier = EarlierRun::find(&document.run, || Some(run.clone()), PAGE);
    let context = html::PageContext {
        folder: Some(folder),
        earlier: earlier.as_ref().map(|earlier| earlier.shown(file, folder)),
        profile: profile.as_ref(),
        planned: run.plan.present().map(|plan| plan.cases().count()),
        is_running: run.state == State::Running,
        parts: &parts,
        ..html::PageContext::default()
    };
    output::page(file, |out| page(&document, &site, context, out))?;
    Ok(Exit::MET)
}

/// Prints the nodes with `verdict` as a list; without any, prints nothing.
fn nodes(document: &Document, verdict: Verdict) -> Result<(), CliError> {
    if document.verdicts.is_empty() {
        let id = &document.run.id;
        return Err(CliError::Usage(format!(
            "--nodes: run {id} judged nothing; `seatrial check PROFILE` measures and judges"
        )));
    }
    match seatrial_report::nodes_with(document, verdict).as_slice() {
        [] => Ok(()),
        nodes => output::print(&format!("{}\n", fold(nodes))),
    }
}

/// Prints the ticket of `node`, or of the only node of the run.
fn ticket(run: &StoredRun, document: &Document, node: Option<&str>) -> Result<(), CliError> {
    let nodes = &document.run.nodes;
    let known = fold(nodes);
    let node = match (node, nodes.as_slice()) {
        (Some(node), _) if nodes.iter().any(|known| known == node) => node,
        (Some(node), _) => {
            return Err(CliError::Usage(format!(
                "--node: the run has no node '{node}'; its nodes are {known}"
            )));
        }
        (None, [only]) => only,
        (None, _) => {
            return Err(CliError::Usage(format!(
                "--form ticket is about one node: give --node, one of {known}"
            )));
        }
    };
    let mut machine = run.site()?.nodes.iter().find(|known| known.name == node).map(with_limits);
    if let Some((known, serials)) = machine.as_mut().zip(run.serials()?.remove(node)) {
        known.machine.serials = serials;
    }
    let profile = run.profile()?.into_present();
    let criteria = profile.iter().flat_map(|profile| &profile.criteria);
    let metrics = criteria.map(|criterion| (criterion.id.clone(), criterion.metric.clone())).collect();
    let evidence = seatrial_store::evidence_sha256(run.files().folder()).map_err(|error| error.to_string());
    let evidence = evidence.as_deref().map_err(String::as_str);
    let context = ticket::TicketContext { machine: machine.as_ref(), metrics: &metrics, evidence };
    output::print(&ticket::render(document, node, context))
}

fn with_limits(node: &SiteNode) -> inventory::Node {
    inventory::Node {
        name: node.name.clone(),
        limits: seatrial_inventory::part_limits(&node.machine),
        machine: node.machine.clone(),
    }
}

/// Writes the page of a run that just ended into its folder; the run is complete without, so errors only warn.
pub fn keep(document: &Document, site: &Site, profile: Option<&Profile>, folder: &Path) {
    let files = Files::of(folder);
    let parts = |case: &CaseId| parts(&files, document, case);
    let path = folder.join(PAGE);
    let earlier = EarlierRun::find(&document.run, || RunFolder::open(folder).ok(), PAGE);
    let context = html::PageContext {
        folder: Some(folder),
        profile,
        earlier: earlier.as_ref().map(|earlier| earlier.shown(&path, folder)),
        parts: &parts,
        ..html::PageContext::default()
    };
    if let Err(error) = export::put(&path, |out| page(document, site, context, out)) {
        output::warn(&format!("note: {} could not be written: {error}", path.display()));
    }
}

/// Records of the parts of a case that are in its numbers, where they can still be read.
fn parts(files: &Files, document: &Document, case: &CaseId) -> Vec<PartRecord> {
    let parts = files.parts(case).ok().and_then(Piece::into_present).unwrap_or_default();
    let record = document.results.iter().find(|record| record.case == *case);
    record.map(|record| samples::counted(record, parts)).unwrap_or_default()
}

fn page(
    document: &Document,
    site: &Site,
    context: html::PageContext<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let nodes: Vec<inventory::Node> = site.nodes.iter().map(with_limits).collect();
    let abouts: Vec<_> = seatrial_settings::registry().abouts().collect();
    // As of the day of the run, so that waivers of that day hold.
    let day = judge::day_of(document.run.ended.as_ref().map_or(document.run.started, |end| end.at));
    let wanted = context.profile.map_or(&[][..], std::slice::from_ref);
    let settings = seatrial_analysis::audit(wanted, site, &abouts, day).settings;
    let abouts: Vec<_> = seatrial_registry::REGISTRY.abouts().collect();
    let context = html::PageContext { nodes: &nodes, settings: &settings, abouts: &abouts, ..context };
    html::write(document, &context, out)
}
