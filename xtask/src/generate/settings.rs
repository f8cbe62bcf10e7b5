//! One page of all settings, from the same definitions that `seatrial list` shows.

use std::fmt::Write;

use seatrial_model::setting::SettingAbout;

use super::File;

const HEAD: &str = "\
<!-- Made by `cargo xtask generate` from the settings' own definitions. -->
# Settings

What measurements depend on besides the hardware. `seatrial settings` reads them all and changes nothing;
`seatrial settings PROFILE` holds them against what a profile wants, and so does `seatrial check`. Nothing is wanted here:
[profiles](profiles.md) say what.

`VALUE` and `NAME` stand for what is to be put in. A value is written into a profile as the column *values* says, whatever
the system calls it: sizes and times with their unit, flags as true and false.

| setting | what it is, and why it matters | values | read in | by hand | takes | mind |
|---|---|---|---|---|---|---|
";

/// The page of all settings.
pub fn page(abouts: &[&SettingAbout]) -> File {
    let mut text = HEAD.to_owned();
    for about in abouts {
        let what = format!("**{}.** {}", capital(about.title), about.doc);
        let ways: Vec<String> =
            about.commands().map(|(command, spelling)| way(&command, &spelling)).collect();
        let ways = match (ways.as_slice(), about.remedy) {
            ([], "") => "not while the system runs".to_owned(),
            ([], remedy) => remedy.to_owned(),
            (ways, _) => ways.join("; "),
        };
        let id = format!("`{}`", about.id);
        let cells = [
            id.as_str(),
            &what,
            &about.describe(),
            about.source,
            &ways,
            about.privilege.words(),
            about.traps,
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        writeln!(text, "| {} |", cells.join(" | ")).expect("a String takes all");
    }
    File::new("docs/settings.md", &text)
}

fn way(command: &str, spelling: &str) -> String {
    if spelling.is_empty() { format!("`{command}`") } else { format!("`{command}` ({spelling})") }
}

/// The text as the start of a sentence.
fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_a_row_with_all_its_cells() {
        let abouts: Vec<_> = seatrial_settings::registry().abouts().collect();
        let text = page(&abouts).text;
        for about in &abouts {
            let start = format!("| `{}` | **", about.id);
            let row = text.lines().find(|line| line.starts_with(&start)).expect("a row");
            let cells = row.replace("\\|", "").matches('|').count();
            assert_eq!(cells, 8, "{row}");
            assert!(row.contains(about.traps) && row.contains(about.doc), "{row}");
        }
        assert!(text.contains(
            "`echo VALUE > /sys/devices/system/cpu/intel_pstate/no_turbo` (0 for true, 1 for false)"
        ));
    }
}
