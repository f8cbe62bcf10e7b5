//! Man pages, shell completions and the reference page of the command line, from the one clap definition.

use std::fmt::Write;

use anyhow::{Context, Result};
use clap::Command;
use clap_complete::Shell;

use super::File;

const PROGRAM: &str = "seatrial";

/// Width of the help texts on the reference page, in columns; the terminal that generates must not matter.
const WIDTH: usize = 100;

/// One page in section 1 for the program and for each of its visible commands.
///
/// # Errors
/// When a page cannot be rendered.
pub fn man_pages(command: &Command) -> Result<Vec<File>> {
    visible(&built(command)).iter().map(man_page).collect()
}

fn man_page(command: &Command) -> Result<File> {
    let man = clap_mangen::Man::new(command.clone());
    let path = format!("docs/man/{}", man.get_filename());
    let mut bytes = Vec::new();
    man.render(&mut bytes).with_context(|| format!("cannot render {path}"))?;
    let text = String::from_utf8(bytes).with_context(|| format!("{path} is no UTF-8"))?;
    Ok(File::new(path, &text))
}

/// Completions of `seatrial` for the shells that clusters have.
pub fn completions(command: &Command) -> Vec<File> {
    [(Shell::Bash, "seatrial.bash"), (Shell::Zsh, "_seatrial"), (Shell::Fish, "seatrial.fish")]
        .map(|(shell, name)| {
            let mut bytes = Vec::new();
            clap_complete::generate(shell, &mut without_hidden(command), PROGRAM, &mut bytes);
            File::new(format!("completions/{name}"), &String::from_utf8_lossy(&bytes))
        })
        .into()
}

/// The command without those below it that people never type. A command cannot be taken away from a clap
/// definition, so a new one gets the rest.
fn without_hidden(command: &Command) -> Command {
    Command::new(PROGRAM)
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments())
        .subcommands(command.get_subcommands().filter(|below| !below.is_hide_set()))
}

/// The long help of the program and of each of its visible commands on one page.
pub fn reference(command: &Command) -> File {
    let mut text = "<!-- Made by `cargo xtask generate`. -->\n# Command line\n".to_owned();
    for command in &mut visible(&built(command)) {
        let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
        let help = command.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        writeln!(text, "\n## `{name}`\n\n```text\n{}\n```", help.join("\n").trim())
            .expect("a String takes all");
    }
    File::new("docs/cli.md", &text)
}

/// Built, so that every command knows its full name; without `help`, which every page would repeat.
fn built(command: &Command) -> Command {
    let mut command = command.clone().disable_help_subcommand(true).term_width(WIDTH);
    command.build();
    command
}

/// The command and all commands below it that are not hidden, parents first.
fn visible(command: &Command) -> Vec<Command> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    std::iter::once(command.clone()).chain(below.flat_map(visible)).collect()
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn sample() -> Command {
        Command::new("sail").about("Sails").subcommands([
            Command::new("tack")
                .about("Turns through the wind")
                .arg(Arg::new("angle").long("angle").help("Degrees")),
            Command::new("crew").about("Internal").hide(true),
        ])
    }

    #[test]
    fn every_visible_command_has_its_man_page() {
        let pages = man_pages(&sample()).unwrap();
        let paths: Vec<&str> = pages.iter().map(|page| page.path.as_str()).collect();
        assert_eq!(paths, ["docs/man/sail.1", "docs/man/sail-tack.1"]);
        assert!(pages[1].text.contains("Turns through the wind"), "{}", pages[1].text);
    }

    #[test]
    fn the_reference_shows_options_and_hides_what_is_hidden() {
        let text = reference(&sample()).text;
        assert!(text.contains("## `sail tack`") && text.contains("--angle <angle>"), "{text}");
        assert!(!text.contains("crew"), "{text}");
    }

    #[test]
    fn three_shells_complete_the_option_and_nothing_hidden() {
        let files = completions(&sample());
        assert_eq!(files.len(), 3);
        for file in files {
            assert!(file.text.contains("angle"), "{}", file.path);
            assert!(!file.text.contains("crew"), "{}", file.path);
        }
    }
}
