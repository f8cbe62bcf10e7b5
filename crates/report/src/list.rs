//! What there is: the list of benchmarks, settings and profiles, and the page of one benchmark.

use seatrial_model::setting::SettingAbout;
use seatrial_model::{About, Better, Interaction, Need, Planned};

use crate::grid;
use crate::ink::{Ink, develop};
use crate::words::{clean, count};
use crate::{Look, markdown};

/// A profile, as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileLine {
    /// The name it is asked for by.
    pub id: String,
    /// A few words.
    pub title: String,
}

/// The list of everything that can be run, audited and asked for.
pub fn overview(
    benchmarks: &[&About],
    planned: &[Planned],
    settings: &[&SettingAbout],
    profiles: &[ProfileLine],
    look: Look,
) -> String {
    let section = |title: &str, rows: Vec<(String, String)>| titled(title, &rows, look.width());
    let known = benchmarks.iter().map(|about| (about.id.to_owned(), about.title.to_owned()));
    let coming = planned.iter().map(|planned| (planned.id.to_owned(), Ink::Faint.on("planned")));
    let profiles = profiles.iter().map(|profile| (clean(&profile.id), clean(&profile.title)));
    let settings = settings.iter().map(|about| (about.id.to_owned(), about.title.to_owned()));
    let hint = "`seatrial list NAME` explains a benchmark or a setting, or prints a profile";
    let mut blocks = vec![
        section("Benchmarks", known.chain(coming).collect()),
        section("Settings", settings.collect()),
        section("Profiles", profiles.collect()),
        Ink::Faint.on(hint) + "\n",
    ];
    blocks.retain(|block| !block.is_empty());
    develop(&blocks.join("\n"), look.style)
}

/// The page of one benchmark: its document, then what can be set and what comes out.
pub fn page(about: &About, look: Look) -> String {
    let mut blocks = vec![markdown::text(about.doc, look.width())];
    blocks.push(titled("Parameters", &parameters(about), look.width()));
    blocks.push(titled("Metrics", &metrics(about), look.width()));
    blocks.push(titled("Series", &series(about), look.width()));
    blocks.push(titled("Running it", &circumstances(about), look.width()));
    blocks.retain(|block| !block.is_empty());
    develop(&blocks.join("\n"), look.style)
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

const fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => ", higher is better",
        Better::Lower => ", lower is better",
        Better::None => "",
    }
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
        Interaction::Passive => "nobody: it only reads".to_owned(),
        Interaction::Loads(what) => format!("loads {what}"),
        Interaction::Disrupts(what) => format!("disrupts {what} while it runs, and puts it back"),
    };
    let need = |need: &Need| match need {
        Need::Library(name) => format!("the library {name}"),
        Need::Privilege(what) => (*what).to_owned(),
        Need::Nodes(least) => format!("at least {}", count(*least as usize, "node")),
        Need::Directory => "a directory that you name".to_owned(),
    };
    let needs: Vec<_> = about.needs.iter().map(need).collect();
    let mut rows = vec![("takes".to_owned(), time), ("disturbs".to_owned(), disturbs)];
    if !needs.is_empty() {
        rows.push(("needs".to_owned(), needs.join(", ")));
    }
    rows
}
