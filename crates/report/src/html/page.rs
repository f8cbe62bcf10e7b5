//! The page as a whole.

use std::io;

use askama::Template;
use seatrial_model::record::RunEnd;

use seatrial_model::Verdict;

use super::Context;
use super::actions::{Action, actions};
use super::benchmark::{Benchmark, benchmarks};
use super::heat::{self, Heat};
use super::inventory::{Kind, kinds};
use super::shown::Shown;
use super::table::Table;
use super::words::{Badge, of_verdict, text};
use super::{download, findings, nodes, settings};
use crate::terminal::{judged, measured};
use crate::words::{between, count, shell_word, span, time};

/// Colours for the dark, in two places of the style: where the system asks for it, and where the person does.
const DARK: &str = include_str!("../../templates/dark.css");
const STYLE: &str = include_str!("../../templates/style.css");
const SCRIPT: &str = include_str!("../../templates/script.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    style: String,
    script: &'static str,
    title: String,
    run: String,
    badge: Option<Badge>,
    headline: String,
    facts: Vec<(&'static str, String)>,
    command: String,
    actions: Vec<Action>,
    more_actions: usize,
    nothing: &'static str,
    roles: Vec<String>,
    verdicts: Vec<Badge>,
    nodes: Table,
    benchmarks: Vec<Benchmark>,
    pairs: Vec<Heat>,
    settings: Table,
    settings_note: String,
    findings: Table,
    kinds: Vec<Kind>,
    is_cut: bool,
    version: String,
}

/// `document` as one page.
///
/// # Errors
/// When a template cannot be filled, which would be a mistake of ours.
pub fn render(document: &seatrial_model::record::Document, context: &Context<'_>) -> io::Result<String> {
    let shown = Shown::new(document, context);
    let (actions, more_actions) = actions(&shown);
    let mut left = download::MOST;
    let (settings, settings_note) = settings::table(&shown);
    let run = &document.run;
    let page = Page {
        style: STYLE.replace("/* dark */", DARK),
        script: SCRIPT,
        title: format!("{} · Seatrial", text(&run.id)),
        run: text(&run.id),
        badge: document.verdict.map(of_verdict),
        headline: if document.verdict.is_some() { judged(document) } else { measured(document) },
        facts: facts(document, context),
        command: text(&run.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")),
        actions,
        more_actions,
        nothing: match document.verdict {
            Some(Verdict::Skip) => "Nothing could be judged; why stands with the nodes.",
            Some(_) => "Nothing.",
            None => "Nothing was judged, and nothing failed.",
        },
        roles: shown.roles(),
        verdicts: verdicts(&shown),
        nodes: nodes::table(&shown),
        benchmarks: benchmarks(&shown, &mut left),
        pairs: heat::of_pairs(&shown),
        settings,
        settings_note,
        findings: findings::table(&shown),
        kinds: kinds(&shown),
        is_cut: shown.is_cut(),
        version: text(&run.seatrial),
    };
    page.render().map_err(io::Error::other)
}

fn facts(document: &seatrial_model::record::Document, context: &Context<'_>) -> Vec<(&'static str, String)> {
    let run = &document.run;
    let profile = run.profile.as_ref().map(|profile| match profile.title.as_str() {
        "" => text(&profile.id),
        title => text(&format!("{} – {title}", profile.id)),
    });
    let nodes = match run.nodes.as_slice() {
        few if few.len() <= 8 => text(&few.join(", ")),
        many => count(many.len(), "node"),
    };
    let took = match &run.ended {
        None => "did not end".to_owned(),
        Some(RunEnd { signal: Some(signal), .. }) => format!("stopped by {}", text(signal)),
        Some(end) => between(run.started, end.at).map_or("the clock was set back meanwhile".to_owned(), span),
    };
    let facts = [
        ("profile", profile.unwrap_or_default()),
        ("on", nodes),
        ("started", time(run.started)),
        ("took", took),
        ("cases", document.results.len().to_string()),
        ("kept in", context.folder.map_or(String::new(), |folder| text(&folder.display().to_string()))),
    ];
    facts.into_iter().filter(|(_, said)| !said.is_empty()).collect()
}

/// The verdicts and outcomes that something on the page has, the heaviest first.
fn verdicts(shown: &Shown<'_>) -> Vec<Badge> {
    use Verdict::{Fail, Pass, Skip, Unknown, Warn};
    let has = |class: &str| {
        shown.document.results.iter().any(|case| shown.class(case) == class)
            || shown.document.verdicts.iter().any(|record| of_verdict(record.verdict).class == class)
    };
    [Fail, Unknown, Warn, Pass, Skip].map(of_verdict).into_iter().filter(|badge| has(badge.class)).collect()
}
