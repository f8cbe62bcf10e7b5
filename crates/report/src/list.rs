//! The list of benchmarks, patterns, settings and profiles, and the page of one benchmark or pattern.

use seatrial_model::setting::SettingAbout;
use seatrial_model::{About, Alias, Factor, Interaction, Need, Planned};

use serde::Serialize;

use crate::grid;
use crate::ink::{Ink, render_colors};
use crate::words::{clean, count, direction};
use crate::{TextStyle, markdown};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileLine {
    pub id: String,
    pub title: String,
}

/// A pattern, as its page shows it; lists show its name and its sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternPage {
    pub id: String,
    pub doc: String,
    /// The order of its pairs, and its parameters; a sentence each.
    pub notes: Vec<String>,
    /// The pairs of a few nodes: a step and its pairs.
    pub example: Vec<(String, String)>,
    /// Names of benchmarks under the pattern.
    pub names: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Everything<'a> {
    pub benchmarks: &'a [&'a About],
    /// Names for a benchmark under a pattern or with parameters.
    pub aliases: &'a [Alias],
    pub planned: &'a [Planned],
    pub patterns: &'a [PatternPage],
    pub settings: &'a [&'a SettingAbout],
    pub profiles: &'a [ProfileLine],
}

/// The list of everything that can be run, audited and shown.
pub fn overview(all: &Everything<'_>, style: TextStyle) -> String {
    let Everything { benchmarks, aliases, planned, patterns, settings, profiles } = *all;
    let section = |title: &str, rows: Vec<(String, String)>| titled(title, &rows, style.width());
    let known = benchmarks.iter().map(|about| (about.id.to_owned(), about.title.to_owned()));
    let named = aliases.iter().map(|alias| (alias.id.to_owned(), alias.title.to_owned()));
    let patterns = patterns.iter().map(|pattern| (pattern.id.clone(), pattern.doc.clone()));
    let coming = planned.iter().map(|planned| (planned.id.to_owned(), Ink::Faint.on("planned")));
    let profiles = profiles.iter().map(|profile| (clean(&profile.id), clean(&profile.title)));
    let settings = settings.iter().map(|about| (about.id.to_owned(), about.title.to_owned()));
    let hint = "`seatrial list NAME` explains any of them, or prints a profile";
    let mut blocks = vec![
        section("Benchmarks", known.chain(named).chain(coming).collect()),
        section("Patterns", patterns.collect()),
        section("Settings", settings.collect()),
        section("Profiles", profiles.collect()),
        Ink::Faint.on(hint) + "\n",
    ];
    blocks.retain(|block| !block.is_empty());
    render_colors(&blocks.join("\n"), style.style)
}

/// The page of one benchmark: its document, then parameters, factors that a study may leave out beside the
/// parameters, and metrics.
pub fn page(about: &About, factors: &[Factor], style: TextStyle) -> String {
    let mut blocks = vec![markdown::text(about.doc, style.width())];
    blocks.extend(definition(about, factors, style.width()));
    blocks.retain(|block| !block.is_empty());
    render_colors(&blocks.join("\n"), style.style)
}

/// The page of a benchmark under a pattern or with parameters: description, pairing of nodes, parameters and metrics.
pub fn alias_page(
    alias: &Alias,
    pattern: Option<&PatternPage>,
    about: &About,
    factors: &[Factor],
    style: TextStyle,
) -> String {
    let width = style.width();
    let text = format!("# {}: {}\n\n{}\n", alias.id, alias.title, alias.doc);
    let mut same = vec![("benchmark".to_owned(), format!("{}: {}", about.id, about.title))];
    same.extend(pattern.map(|pattern| ("pattern".to_owned(), format!("{}: {}", pattern.id, pattern.doc))));
    same.extend(alias.params.iter().map(|(name, value)| ("parameter".to_owned(), format!("{name}={value}"))));
    let mut blocks = vec![markdown::text(&text, width), titled("Stands for", &same, width)];
    blocks.extend(pattern.map(|pattern| titled(EXAMPLE, &pattern.example, width)));
    blocks.extend(definition(about, factors, width));
    blocks.retain(|block| !block.is_empty());
    render_colors(&blocks.join("\n"), style.style)
}

pub fn pattern_page(pattern: &PatternPage, style: TextStyle) -> String {
    let width = style.width();
    let notes = pattern.notes.join(" ");
    let text = format!("# {}\n\n{}\n\n{notes}\n", pattern.id, pattern.doc);
    let names: Vec<_> = pattern.names.iter().map(|name| (name.clone(), String::new())).collect();
    let mut blocks = vec![
        markdown::text(&text, width),
        titled(EXAMPLE, &pattern.example, width),
        titled("Names of benchmarks under it", &names, width),
    ];
    blocks.retain(|block| !block.is_empty());
    render_colors(&blocks.join("\n"), style.style)
}

/// Above the example of a pattern.
const EXAMPLE: &str = "Of six nodes n1 to n6";

fn definition(about: &About, factors: &[Factor], width: u16) -> Vec<String> {
    vec![
        titled("What to check when a result is bad, in this order", &checks(about), width),
        titled("Parameters", &parameters(about), width),
        titled("Factors, beside the parameters", &self::factors(factors), width),
        titled("Metrics", &metrics(about), width),
        titled("Series", &series(about), width),
        titled("Requirements and cost", &circumstances(about), width),
    ]
}

fn checks(about: &About) -> Vec<(String, String)> {
    about.checks.iter().map(|check| (check.actor.words().to_owned(), check.action.to_string())).collect()
}

fn factors(factors: &[Factor]) -> Vec<(String, String)> {
    let row = |factor: &Factor| {
        let off =
            factor.off.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
        (factor.name.to_owned(), format!("{}\nwithout it: {off}", factor.doc))
    };
    factors.iter().map(row).collect()
}

fn titled(title: &str, rows: &[(String, String)], width: u16) -> String {
    if rows.is_empty() {
        String::new()
    } else {
        format!("{}\n{}", Ink::Strong.on(title), grid::paragraphs(rows, width))
    }
}

fn parameters(about: &About) -> Vec<(String, String)> {
    let row = |param: &seatrial_model::ParamSpec| {
        let word = param.word.map(|word| format!(", or {word}")).unwrap_or_default();
        let default = Ink::Strong.on(param.default);
        (param.name.to_owned(), format!("{}\n{}{word}; default {default}", param.doc, param.kind.describe()))
    };
    about.params.iter().map(row).collect()
}

fn metrics(about: &About) -> Vec<(String, String)> {
    let row = |metric: &seatrial_model::MetricSpec| {
        (metric.name.to_owned(), format!("{} [{}{}]", metric.doc, metric.unit, direction(metric.better)))
    };
    about.metrics.iter().map(row).collect()
}

fn series(about: &About) -> Vec<(String, String)> {
    let row = |series: &seatrial_model::SeriesSpec| {
        let axes: Vec<_> = series.axes.iter().map(|axis| axis.name).collect();
        let text = format!(
            "{} [{}{}; by {}]",
            series.doc,
            series.unit,
            direction(series.better),
            axes.join(" and ")
        );
        (series.name.to_owned(), text)
    };
    about.series.iter().map(row).collect()
}

fn circumstances(about: &About) -> Vec<(String, String)> {
    let cost = &about.cost;
    let written =
        if cost.written == 0 { "nothing".to_owned() } else { seatrial_model::Bytes(cost.written).rounded() };
    let time = format!(
        "about {} a case with default parameters; writes {written}",
        count(cost.seconds as usize, "second")
    );
    let disturbs = match about.interaction {
        Interaction::Passive => "nothing: it only reads".to_owned(),
        Interaction::Loads(what) => format!("loads {what}"),
        Interaction::Disrupts(what) => format!("disrupts {what} while it runs, and puts it back"),
    };
    let need = |need: &Need| match need {
        Need::Library(name) => format!("the library {name}"),
        Need::Privilege(what) => (*what).to_owned(),
        Need::Nodes(least) => format!("at least {}", count(*least as usize, "node")),
        Need::Directory => "a writable directory".to_owned(),
    };
    let needs: Vec<_> = about.needs.iter().map(need).collect();
    let mut rows = vec![("takes".to_owned(), time), ("disturbs".to_owned(), disturbs)];
    if !needs.is_empty() {
        rows.push(("needs".to_owned(), needs.join(", ")));
    }
    rows
}
