//! Settings for people: an audit with the differences and their remedies, and the page of one setting.

mod page;
mod remedies;

use seatrial_model::setting::{SettingAbout, SettingsDocument};
use seatrial_model::{Verdict, VerdictRecord};

pub use page::page;

use crate::TextStyle;
use crate::ink::{Ink, render_colors};
use crate::notes::Notes;
use crate::terminal::table;
use crate::view::headline::nodes;
use crate::view::settings as view;
use crate::view::table::Table;
use crate::words::{clean, count, counted, verdict_title};

/// With more rows, settings with the demanded value are counted, not listed.
const MOST_ROWS: usize = 24;

/// Listed nodes; more are counted.
const MOST_NAMES: usize = 4;

/// Lines that every terminal shows at once.
const ONE_SCREEN: usize = 45;

/// The audit as text for a terminal, ending with a line feed; `abouts` lists all settings.
pub fn render(document: &SettingsDocument, abouts: &[&SettingAbout], style: TextStyle) -> String {
    let mut notes = Notes::default();
    let width = style.width();
    let mut blocks = vec![headline(document)];
    blocks.push(rows(document, &mut notes, width));
    blocks.push(remedies::block(document, abouts, width));
    blocks.push(Ink::Faint.on(&hint(document)) + "\n");
    blocks.retain(|block| !block.is_empty());
    let mut text = blocks.join("\n");
    if document.profile.is_some() && text.lines().count() > ONE_SCREEN {
        // The first line has scrolled away, and it is the most important one.
        text += &format!("\n{}\n", text.lines().next().unwrap_or_default());
    }
    render_colors(&text, style.style)
}

fn headline(document: &SettingsDocument) -> String {
    let first = match (&document.profile, document.verdict) {
        (Some(_), Some(verdict)) => {
            format!("{}  {}", verdict_title(verdict), judged(document))
        }
        (Some(_), None) => Ink::Doubt.on("? UNKNOWN") + "  the profile has no [[setting]]",
        (None, _) => Ink::Strong.on(&format!(
            "{} read, beside what the shipped profiles want",
            count(settings(document), "setting")
        )),
    };
    let profile = document.profile.as_ref().map(|profile| format!("profile {}", clean(&profile.id)));
    let nodes = format!("on {}", clean(&nodes(&document.nodes, MOST_NAMES)));
    let second: Vec<String> = profile.into_iter().chain([nodes]).collect();
    format!("{first}\n{}\n", Ink::Faint.on(&second.join(" · ")))
}

/// Each setting with its value and the demand; in long lists those with the demanded value are counted.
fn rows(document: &SettingsDocument, notes: &mut Notes, width: u16) -> String {
    let is_judged = document.profile.is_some();
    let mut rows = view::rows(&document.settings, &document.verdicts, is_judged);
    let all = rows.len();
    if is_judged && all > MOST_ROWS {
        rows.retain(|(row, _)| row.verdict != Some(Verdict::Pass) || row.is_waived);
    }
    if !is_judged {
        rows = rows.into_iter().map(|(row, nodes)| (row.unjudged(), nodes)).collect();
    }
    let mut table = Table { title: String::new(), ..view::table(&rows, document.nodes.len()) };
    // Names of settings are long, and every other column says more than which profiles want a value.
    if !table::can_fit(&table, width) {
        table.retain(|column, _| column.title != "by");
    }
    table.push_hidden(Verdict::Pass, all - rows.len());
    table::block(table, usize::MAX, notes, width)
}

/// Number of demands by verdict, the heaviest first.
fn judged(document: &SettingsDocument) -> String {
    let number = |verdict| document.verdicts.iter().filter(|record| record.verdict == verdict).count();
    let is_waived = |record: &&VerdictRecord| record.verdict == Verdict::Warn && record.waiver.is_some();
    let waived = document.verdicts.iter().filter(is_waived).count();
    let all = document.verdicts.len();
    if number(Verdict::Pass) == all {
        return if all == 1 {
            "the one setting is as wanted".to_owned()
        } else {
            format!("all {all} are as wanted")
        };
    }
    let phrases = [
        (number(Verdict::Fail), "not as wanted"),
        (number(Verdict::Unknown), "could not be judged"),
        (number(Verdict::Warn) - waived, "with a warning"),
        (waived, "waived"),
        (number(Verdict::Pass), "as wanted"),
    ];
    counted(all, "", phrases)
}

fn settings(document: &SettingsDocument) -> usize {
    let mut ids: Vec<&str> =
        document.settings.iter().map(|setting| setting.reading.setting.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

fn hint(document: &SettingsDocument) -> String {
    let explain = "`seatrial list SETTING` explains one";
    match document.profile {
        Some(_) => format!("{explain}; `seatrial settings` shows them all"),
        None => format!("{explain}; `seatrial settings PROFILE` judges them"),
    }
}
