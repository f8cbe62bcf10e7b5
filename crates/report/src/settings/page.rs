//! The page of one setting, for `list`.

use seatrial_model::setting::SettingAbout;

use crate::TextStyle;
use crate::grid;
use crate::ink::{Ink, render_colors};

/// Everything that is known of a setting without reading a host.
pub fn page(about: &SettingAbout, style: TextStyle) -> String {
    let width = style.width();
    let mut text = format!("{} · {}\n\n", Ink::Strong.on(about.id), about.title);
    text += &grid::wrapped(about.doc, width);
    let facts = ["kind"].into_iter().chain(about.facts.iter().copied()).collect::<Vec<_>>().join(", ");
    let mut rows = vec![
        ("values", about.describe()),
        ("set for", format!("each {}", about.subject)),
        ("read in", about.source.to_owned()),
        ("needs", about.privilege.words().to_owned()),
        ("mind", about.traps.to_owned()),
    ];
    if !about.facts.is_empty() {
        rows.insert(2, ("chosen by", format!("on = {{ ... }} in a profile: {facts}")));
    }
    let rows: Vec<_> = rows.into_iter().map(|(label, text)| (Ink::Faint.on(label), text)).collect();
    text += &format!("\n{}", grid::paragraphs(&rows, width));
    let mut commands = about.commands().peekable();
    match commands.peek() {
        None if !about.remedy.is_empty() => text += &format!("\nTo mend it: {}.\n", about.remedy),
        None => text += "\nNot to be changed while the system runs.\n",
        Some(_) => text += "\nSet by hand:\n",
    }
    for (command, spelling) in commands {
        let spelling = if spelling.is_empty() { spelling } else { Ink::Faint.on(&format!("  # {spelling}")) };
        text += &format!("     {command}{spelling}\n");
    }
    render_colors(&text, style.style)
}
