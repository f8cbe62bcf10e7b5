//! The page of a run as a whole.

use std::cmp::Reverse;
use std::io;

use askama::Template;
use seatrial_model::record::{Document, RunEnd, RunInfo};
use seatrial_model::{Cause, Verdict};

use super::PageContext;
use super::actions::{ActionLine, actions};
use super::answers::{Answers, answers};
use super::benchmark::{Benchmark, families};
use super::download;
use super::frame::PageFrame;
use super::heat::{self, Heat};
use super::inventory::{Kind, kinds};
use super::map::{MachineMap, blocks, maps};
use super::shown::Shown;
use super::table::PageTable;
use super::words::text;
use crate::repeat_command;
use crate::view::criteria::{self as view, Places};
use crate::view::headline::{self, said, took};
use crate::view::nodes::is_fleet;
use crate::view::parts::{self, Extent};
use crate::view::prolonged::prolonged;
use crate::view::table::Table;
use crate::view::{findings, nodes, settings, source_tables};
use crate::words::{Badge, count, time};

/// Listed nodes; more are counted.
pub const MOST_NAMES: usize = 8;

const MOST_CRITERIA: usize = 200;

/// Parts by test; of more the tests of a part are joined.
const MOST_PARTS: usize = 16;

const MOST_ROWS_OF_PARTS: usize = 200;

const MOST_SETTINGS: usize = 200;

/// Findings at most; the JSON form has all.
const MOST_FINDINGS: usize = 300;

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    frame: PageFrame,
    run: String,
    badge: Option<Badge>,
    headline: String,
    unfinished: Option<Unfinished>,
    facts: Vec<String>,
    answers: Answers,
    command: String,
    folder: String,
    actions: Vec<ActionLine>,
    more_actions: usize,
    nothing: &'static str,
    criteria: PageTable,
    /// The tables of the profile's document, with remarks.
    source_tables: Vec<(PageTable, String)>,
    parts: PageTable,
    /// The benchmarks by what they measure.
    families: Vec<(String, Vec<Benchmark>)>,
    nodes: PageTable,
    pairs: Vec<Heat>,
    settings: PageTable,
    settings_note: String,
    findings: PageTable,
    kinds: Vec<Kind>,
    maps: Vec<MachineMap>,
    /// The nodes of a fleet by part.
    fleet: Vec<String>,
    is_cut: bool,
    not_here: Option<String>,
}

struct Unfinished {
    /// The state of the run, and its progress.
    what: String,
    /// The command that resumes it; empty while it still runs.
    resume: String,
}

pub fn render(document: &Document, context: &PageContext<'_>) -> io::Result<String> {
    let shown = Shown::new(document, context);
    let (actions, more_actions) = actions(&shown);
    let mut left = download::MOST;
    let (settings, settings_note) =
        settings::open_settings(context.settings, document.run.nodes.len(), MOST_SETTINGS);
    let run = &document.run;
    let unfinished = unfinished(document, context);
    let badge = match (document.verdict, &unfinished) {
        (Some(verdict), _) => Some(verdict.into()),
        (None, Some(_)) => Some(Badge { word: "unfinished", ..Verdict::Unknown.into() }),
        (None, None) => None,
    };
    let page = Page {
        frame: PageFrame {
            is_of_one_node: run.nodes.len() == 1,
            ..PageFrame::new(&run.id, &run.seatrial, shown.roles(), verdicts(&shown))
        },
        run: text(&run.id),
        badge,
        headline: text(&said(document)),
        unfinished,
        facts: facts(document),
        answers: answers(&shown),
        command: command(&run.command),
        folder: context.folder.map_or(String::new(), |folder| text(&folder.display().to_string())),
        actions,
        more_actions,
        nothing: match document.verdict {
            Some(Verdict::Skip) => "Nothing could be judged; the reasons are in the table of nodes.",
            Some(_) => "Nothing.",
            None => "Nothing was judged, and nothing failed.",
        },
        criteria: criteria(&shown),
        source_tables: source_tables(&shown),
        parts: PageTable::of_run(&parts(document), MOST_ROWS_OF_PARTS, &shown),
        families: families(&shown, &mut left),
        nodes: nodes(&shown),
        pairs: heat::of_pairs(&shown),
        settings: PageTable::of_run(&settings, usize::MAX, &shown),
        settings_note,
        findings: PageTable::of_run(
            &findings::table(&findings::by_cause(findings::found(document))),
            MOST_FINDINGS,
            &shown,
        ),
        kinds: kinds(&shown),
        maps: maps(&shown),
        fleet: blocks(&shown),
        is_cut: shown.is_cut(),
        not_here: parts::not_here(document).map(|line| text(&line)),
    };
    page.render().map_err(io::Error::other)
}

/// Every criterion of parts that exist, including those that are met, the worst first.
fn criteria(shown: &Shown<'_>) -> PageTable {
    let places = Places::of(shown.document);
    let mut all = headline::listed(shown.document, &places);
    all.sort_by_key(|criterion| Reverse(criterion.worst.verdict));
    let rows: Vec<_> = all.iter().map(|criterion| criterion.row(&places)).collect();
    let table = view::table(
        "The worst first, with the number of places that meet each",
        &rows,
        true,
        is_fleet(shown.document),
    );
    PageTable::of_run(&table, MOST_CRITERIA, shown)
}

fn source_tables(shown: &Shown<'_>) -> Vec<(PageTable, String)> {
    let profile = shown.context.profile.into_iter();
    let tables = profile.flat_map(|profile| source_tables::tables(shown.document, profile));
    let with_remarks =
        |table: Table| (PageTable::of_run(&table, usize::MAX, shown), text(&table.remarks.join("; ")));
    tables.map(with_remarks).collect()
}

fn nodes(shown: &Shown<'_>) -> PageTable {
    let all = nodes::summaries(shown.document);
    PageTable::of_run(&nodes::table(shown.document, &all, Some(shown.assignment())), usize::MAX, shown)
}

fn unfinished(document: &Document, context: &PageContext<'_>) -> Option<Unfinished> {
    let run = &document.run;
    let what = match &run.ended {
        Some(RunEnd { signal: Some(signal), .. }) => format!("The run was stopped by {signal}."),
        Some(_) => return None,
        None if context.is_running => "The run has not ended yet.".to_owned(),
        None => "The run recorded no end: it was killed, or its machine went down.".to_owned(),
    };
    let done = document.results.iter().filter(|case| case.cause != Some(Cause::Interrupted)).count();
    let far = context.planned.map(|planned| {
        let of = count(planned.max(done), "planned case");
        format!(" Its results so far: {done} of {of}.")
    });
    let is_running = context.is_running && run.ended.is_none();
    Some(Unfinished {
        what: text(&(what + &far.unwrap_or_default())),
        resume: if is_running { String::new() } else { text(&repeat_command::resume(run)) },
    })
}

fn facts(document: &Document) -> Vec<String> {
    let run = &document.run;
    let facts = [
        headline::nodes(&run.nodes, MOST_NAMES),
        time(run.started),
        prolonged(document)
            .map_or_else(|| took(run), Ok)
            .map_or_else(|became| became, |took| format!("took {took}")),
    ];
    facts.iter().filter(|fact| !fact.is_empty()).map(|fact| text(fact)).collect()
}

fn parts(document: &Document) -> Table {
    let title = "Every part that was measured, against its limit".to_owned();
    Table { title, ..parts::table(document, MOST_PARTS, Extent::Page) }
}

/// A command line, quoted for a shell.
pub fn command(words: &[String]) -> String {
    text(&repeat_command::line(words))
}

/// The profile that judged the run; empty without one.
pub fn profile(run: &RunInfo) -> String {
    let Some(profile) = &run.profile else { return String::new() };
    match profile.title.as_str() {
        "" => text(&profile.id),
        title => text(&format!("{} – {title}", profile.id)),
    }
}

/// The verdicts and outcomes of all elements of the page, the heaviest first.
fn verdicts(shown: &Shown<'_>) -> Vec<Badge> {
    use Verdict::{Fail, Pass, Skip, Unknown, Warn};
    let has = |class: &str| {
        shown.document.results.iter().any(|case| shown.class(case) == class)
            || shown.document.verdicts.iter().any(|record| record.verdict.word() == class)
    };
    [Fail, Unknown, Warn, Pass, Skip]
        .map(Badge::from)
        .into_iter()
        .filter(|badge| has(badge.class()))
        .collect()
}
