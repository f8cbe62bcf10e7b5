//! `seatrial report`.

use std::cell::OnceCell;
use std::io::{self, Write};
use std::path::Path;

use seatrial_model::profile::Profile;
use seatrial_model::record::Document;
use seatrial_model::{CaseId, PartRecord, Site};
use seatrial_report::{export, html, inventory};
use seatrial_store::{Home, HomeEnv, Piece, RunFolder, State, StoredRun};

use crate::args::ReportArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::{judge, output, samples};

const PAGE: &str = "report.html";

pub fn run(args: &ReportArgs) -> Result<Exit, CliError> {
    let home = Home::resolve(&HomeEnv::of_process())?;
    let path = home.find(&args.run)?;
    let run = RunFolder::open(&path)?;
    for damage in &run.damage {
        output::warn(&damage.to_string());
    }
    let mut document = run.document()?;
    let Some(file) = &args.html else {
        output::document(&document, &args.output, Some(&path))?;
        return Ok(Exit::MET);
    };
    samples::put_back(&run, &mut document.results);
    let (site, profile) = (run.site()?, run.profile()?.into_present());
    let parts = |case: &CaseId| parts(&run, case);
    let context = html::PageContext {
        folder: Some(&path),
        profile: profile.as_ref(),
        planned: run.plan.present().map(|plan| plan.cases().count()),
        is_running: run.state == State::Running,
        parts: &parts,
        ..html::PageContext::default()
    };
    output::page(file, |out| page(&document, &site, context, out))?;
    Ok(Exit::MET)
}

/// Writes the page of a run that just ended into its folder; the run is complete without, so errors only warn.
pub fn keep(document: &Document, site: &Site, profile: Option<&Profile>, folder: &Path) {
    let run = OnceCell::new();
    let parts = |case: &CaseId| {
        let run = run.get_or_init(|| RunFolder::open(folder).ok());
        run.as_ref().map(|run| parts(run, case)).unwrap_or_default()
    };
    let path = folder.join(PAGE);
    let context =
        html::PageContext { folder: Some(folder), profile, parts: &parts, ..html::PageContext::default() };
    if let Err(error) = export::put(&path, |out| page(document, site, context, out)) {
        output::warn(&format!("note: {} could not be written: {error}", path.display()));
    }
}

/// Records of the parts of a case, where they can still be read.
fn parts(run: &StoredRun, case: &CaseId) -> Vec<PartRecord> {
    run.samples(case).ok().and_then(Piece::into_present).unwrap_or_default()
}

fn page(
    document: &Document,
    site: &Site,
    context: html::PageContext<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let node = |node: &seatrial_model::SiteNode| inventory::Node {
        name: node.name.clone(),
        limits: seatrial_inventory::part_limits(&node.machine),
        machine: node.machine.clone(),
    };
    let nodes: Vec<inventory::Node> = site.nodes.iter().map(node).collect();
    let abouts: Vec<_> = seatrial_settings::registry().abouts().collect();
    // As of the day of the run, so that waivers of that day hold.
    let day = judge::day_of(document.run.ended.as_ref().map_or(document.run.started, |end| end.at));
    let wanted = context.profile.map_or(&[][..], std::slice::from_ref);
    let settings = seatrial_analysis::audit(wanted, site, &abouts, day).settings;
    let abouts: Vec<_> = seatrial_registry::REGISTRY.abouts().collect();
    let context = html::PageContext { nodes: &nodes, settings: &settings, abouts: &abouts, ..context };
    html::write(document, &context, out)
}
