//! Below the table: for each setting that differs, why it matters and how to set it by hand.

use seatrial_model::Verdict;
use seatrial_model::setting::{SettingAbout, SettingsDocument, Wanted};

use crate::grid;
use crate::ink::Ink;
use crate::view::headline::nodes;
use crate::words::clean;

pub fn block(document: &SettingsDocument, abouts: &[&SettingAbout], width: u16) -> String {
    if document.profile.is_none() {
        return String::new();
    }
    let texts: Vec<String> = abouts.iter().filter_map(|about| remedy(document, about, width)).collect();
    texts.join("\n")
}

fn remedy(document: &SettingsDocument, about: &SettingAbout, width: u16) -> Option<String> {
    let differs = |want: &&Wanted| want.verdict == Verdict::Fail || want.change.is_some();
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut found = false;
    for setting in document.settings.iter().filter(|setting| setting.reading.setting == about.id) {
        for want in setting.wanted.iter().filter(differs) {
            found = true;
            let Some(change) = want.change.as_deref() else { continue };
            match commands.iter_mut().find(|(known, _)| *known == change) {
                Some((_, nodes)) if nodes.last() == Some(&setting.node.as_str()) => {}
                Some((_, nodes)) => nodes.push(&setting.node),
                None => commands.push((change, vec![&setting.node])),
            }
        }
    }
    if !found {
        return None;
    }
    let label = |label: &str, text: &str| (Ink::Faint.on(label), clean(text));
    let mut rows = vec![label("matters", about.doc), label("mind", about.traps)];
    match commands.is_empty() {
        true if !about.remedy.is_empty() => rows.push(label("do", about.remedy)),
        true => rows.push(label("set", "not while the system runs, as far as we know")),
        false => rows.push(label("set", &format!("by hand, which takes {}", about.privilege.words()))),
    }
    let mut text = format!("{} · {}\n", Ink::Strong.on(about.id), about.title);
    text += &grid::paragraphs(&rows, width);
    for (command, nodes) in commands {
        // Commands are for copying, so they are never wrapped.
        text += &format!("     {}{}\n", clean(command), place(document, &nodes));
    }
    Some(text)
}

/// The nodes, as a shell comment.
fn place(document: &SettingsDocument, of: &[&str]) -> String {
    if of.len() == document.nodes.len() {
        String::new()
    } else {
        Ink::Faint.on(&format!("  # on {}", clean(&nodes(of, super::MOST_NAMES))))
    }
}
