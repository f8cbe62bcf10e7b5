//! Hints for command lines that clap refuses: where nodes and parameters go, and which command is meant.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory};
use seatrial_model::name::{family, nearest};
use seatrial_profile::SHIPPED;

use crate::args::Cli;

/// Words that other tools have for a command, and what they mean here.
const COMMANDS: [(&[&str], &str); 9] = [
    (&["version"], "`seatrial --version` shows the version"),
    (
        &["bench", "benchmark", "measure", "start", "test"],
        "`seatrial run BENCH` measures, `seatrial list` shows the benchmarks",
    ),
    (&["benchmarks", "ls", "profiles", "tests"], "`seatrial list` shows benchmarks and profiles"),
    (&["diff", "cmp"], "`seatrial compare RUN RUN` compares runs"),
    (&["show", "results", "result", "html"], "`seatrial report RUN` shows the results of a run"),
    (&["runs", "log", "trend"], "`seatrial history` lists the runs"),
    (&["resume", "continue"], "`seatrial run --resume` and `seatrial check --resume` resume a run"),
    (&["info", "hardware", "nodes", "machine"], "`seatrial inventory` shows the hardware"),
    (&["sysctl", "tuning"], "`seatrial settings` shows host settings"),
];

/// `error` about the command line `words` (without the program), with the hint that fits in place of clap's.
pub fn with_hint(mut error: Error, words: &[String]) -> Error {
    let hint = match (error.kind(), refused(&error)) {
        (ErrorKind::InvalidSubcommand, Some(word)) => command_meant(&word),
        (ErrorKind::UnknownArgument, Some(word)) => {
            // clap's own hint is to pass the option as a value, which no command takes.
            error.remove(ContextKind::Suggested);
            argument_meant(&word, words)
        }
        _ => None,
    };
    if let Some(hint) = hint {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    }
    error
}

/// The word that clap refuses.
fn refused(error: &Error) -> Option<String> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    })
}

fn command_meant(word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    if let Some((_, hint)) = COMMANDS.iter().find(|(words, _)| words.contains(&lower.as_str())) {
        return Some((*hint).to_owned());
    }
    let ids = || seatrial_registry::REGISTRY.names();
    if ids().any(|id| id == word) {
        return Some(format!("`seatrial run {word}` measures"));
    }
    if let Some(first) = family(word, ids()).first() {
        return Some(format!("`seatrial run {first}` measures, `seatrial list` shows the other benchmarks"));
    }
    let is_profile = SHIPPED.iter().any(|shipped| shipped.name == word);
    let is_file = Path::new(word).extension().is_some_and(|extension| extension == "toml");
    if is_profile || is_file {
        return Some(format!("`seatrial check {word}` measures and judges"));
    }
    let cli = Cli::command();
    let commands = cli.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    nearest(word, commands).map(|near| format!("did you mean '{near}'?"))
}

fn argument_meant(refused: &str, words: &[String]) -> Option<String> {
    let cli = Cli::command();
    let command = words.iter().find_map(|word| cli.find_subcommand(word))?;
    let option = refused.split('=').next().unwrap_or(refused);
    if matches!(option, "-p" | "--param") {
        let name = command.get_name();
        let is_judged = name == "check" || name == "settings";
        let place = if is_judged { "; a profile has them as params = { ... } of a [[test]]" } else { "" };
        return Some(format!("-p sets parameters of `seatrial run`{place}"));
    }
    if refused.starts_with('-') {
        return long_option_meant(option, command);
    }
    let takes_nodes = command.get_arguments().any(|arg| arg.get_long() == Some("nodelist"));
    let behind = words.iter().skip_while(|word| *word != refused);
    let nodes: Vec<&str> = behind.take_while(|word| !word.starts_with('-')).map(String::as_str).collect();
    (takes_nodes && !nodes.is_empty()).then(|| format!("nodes go to -w {}", nodes.join(",")))
}

fn long_option_meant(option: &str, command: &Command) -> Option<String> {
    let typed = option.strip_prefix("--")?;
    let known: Vec<&str> =
        command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| arg.get_long()).collect();
    nearest(typed, known).map(|near| format!("did you mean '--{near}'?"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[track_caller]
    fn said(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let typed = std::iter::once("seatrial".to_owned()).chain(words.iter().cloned());
        with_hint(Cli::try_parse_from(typed).expect_err("a refused line"), &words).to_string()
    }

    #[test]
    fn nodes_behind_a_command_are_sent_to_w() {
        assert!(
            said("inventory n1 n2 -o json").contains("tip: nodes go to -w n1,n2\n"),
            "{}",
            said("inventory n1 n2")
        );
        assert!(said("check host n1").contains("nodes go to -w n1"));
        assert!(!said("history mem.latency n1").contains("-w"));
    }

    #[test]
    fn parameters_of_a_check_are_sent_to_the_profile() {
        let check = said("check host -p time=1s");
        assert!(check.contains("-p sets parameters of `seatrial run`; a profile has them"), "{check}");
        let report = said("report -p");
        assert!(
            report.contains("-p sets parameters of `seatrial run`") && !report.contains("as a value"),
            "{report}"
        );
    }

    #[test]
    fn a_misspelt_option_is_corrected_and_an_unknown_one_gets_no_hint() {
        assert!(said("check --details-all").contains("'--details'"));
        assert!(!said("check -y").contains("tip"));
    }

    #[test]
    fn words_of_other_tools_name_the_command() {
        for (word, hint) in [
            ("bench", "seatrial run BENCH"),
            ("version", "seatrial --version"),
            ("mem.latency", "seatrial run mem.latency"),
            ("memory", "seatrial run mem."),
            ("host", "seatrial check host"),
            ("site.toml", "seatrial check site.toml"),
            ("rnu", "'run'"),
        ] {
            let text = said(word);
            assert!(text.contains(hint), "{text}");
            assert_eq!(text.matches("tip:").count(), 1, "{text}");
        }
    }
}
