//! What README.md promises can be typed: its commands, their flags, and the names of benchmarks, files and profiles.

use std::collections::BTreeSet;
use std::path::Path;

use crate::rig::{Home, Script};

const README: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));

/// Commands, with what an example stands for in this test. Files are made in the test's folder.
const EXAMPLES: [(&str, &str); 16] = [
    ("check [PROFILE]", "check host --plan"),
    ("run BENCH...", "run mem.bandwidth mem.latency --plan"),
    ("gate [PROFILE]", "gate"),
    ("list [NAME]", "list mem.bandwidth"),
    ("inventory", "inventory"),
    ("settings [PROFILE]", "settings host"),
    ("settings apply PROFILE", "settings apply dragnet --dry-run"),
    ("settings restore [ID]", "settings restore"),
    ("compare A B...", "compare last~1 last"),
    ("history [BENCH]", "history mem.bandwidth"),
    ("report RUN", "report last"),
    ("export RUN", "export last --csv=/dev/stdout"),
    ("verify FILE", "verify"),
    ("profile draft RUN", "profile draft last"),
    ("copy SOURCE... [HOST:]TARGET", "copy /proc/self/cmdline . --dry-run"),
    ("clean", "clean"),
];

/// The code blocks of a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let fenced = README.split("\n```").skip(1).step_by(2);
    fenced.filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}

/// The lines after the prompt of a block, without a comment and without what starts the binary.
fn typed() -> Vec<String> {
    let lines = blocks("console").flat_map(str::lines).filter_map(|line| line.strip_prefix("$ "));
    let command = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_owned();
    lines.map(command).collect()
}

/// The words after the binary; `None` for other programs.
fn of_seatrial(line: &str) -> Option<&str> {
    ["seatrial ", "salloc -N4 seatrial ", "cargo run --release -- "]
        .iter()
        .find_map(|start| line.strip_prefix(start))
}

/// The text between back quotes, outside of code blocks.
fn quoted() -> Vec<&'static str> {
    let prose = README.split("\n```").step_by(2);
    prose.flat_map(|text| text.split('`').skip(1).step_by(2)).collect()
}

/// A home with two runs, on simulated nodes.
fn home() -> Home {
    let home = Home::new();
    for rate in [50.0, 60.0] {
        let run = "run mem.bandwidth -p trials=1 -p max_trials=1";
        home.seatrial(run).script(&Script::measuring(rate)).run().exits(0);
    }
    home
}

#[test]
fn every_command_of_a_block_can_be_typed() {
    let home = Home::new();
    let lines = typed();
    let commands: Vec<&str> = lines.iter().filter_map(|line| of_seatrial(line)).collect();
    assert!(commands.len() > 6, "the blocks are found: {lines:?}");
    for command in commands {
        let measures = ["check", "run"].contains(&command.split(' ').next().unwrap_or_default());
        // Quotes are the shell's; no quoted word has a blank.
        let mut words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches('\'')).collect();
        if let Some(at) = words.iter().position(|word| ["-w", "-N"].contains(word)) {
            // The simulated nodes have these names.
            words.drain(at..at + 2);
        }
        if measures {
            words.push("--plan");
        }
        let ended = home.seatrial(&words.join(" ")).script(&Script::round_trips(4)).run().exits(0);
        assert!(!ended.out.is_empty(), "{command}");
        if measures {
            ended.shows("nothing was run");
        }
    }
    let others: Vec<&String> = lines.iter().filter(|line| of_seatrial(line).is_none()).collect();
    // `cargo xtask fresh` runs this one.
    let tested = |line: &&&String| **line != "seatrial check" && **line != "cargo xtask test";
    assert_eq!(others.iter().filter(tested).count(), 0, "nobody types {others:?}");
}

#[test]
fn every_line_of_what_to_type_works_and_knows_its_flags() {
    let home = home();
    let evidence = home.folder().join("evidence.tar.gz");
    home.seatrial("export last").word(format!("--evidence={}", evidence.display())).run().exits(0);
    let text = blocks("text").next().expect("the first block of plain text");
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once("  ")).collect();
    assert_eq!(lines.len(), EXAMPLES.len(), "{text}");
    for ((command, says), (expected, example)) in lines.into_iter().zip(EXAMPLES) {
        assert_eq!(command, format!("seatrial {expected}"));
        let call = home.seatrial(example);
        let call = if expected == "verify FILE" { call.word(&evidence) } else { call };
        let simulated = example.contains("--plan")
            || ["gate", "inventory", "settings"].iter().any(|it| example.starts_with(it));
        let ended = if simulated { call.script(&Script::measuring(60.0)) } else { call }.run();
        // 1 and 3 are judgements of what was found.
        assert!(matches!(ended.code, Some(0 | 1 | 3)), "{example}: {}", ended.err);
        let name = expected.split(['[', ' ']).next().unwrap_or_default();
        let below = ["profile draft", "settings apply", "settings restore"];
        let name = below.into_iter().find(|below| expected.starts_with(below)).unwrap_or(name);
        let help = home.seatrial(&format!("{name} --help")).run().exits(0).out;
        for flag in flags(says) {
            assert!(help.contains(flag), "README promises {flag} of {command}:\n{help}");
        }
    }
}

/// The words that begin with a dash.
fn flags(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',', ';', '|', '=']).filter(|word| word.starts_with('-') && word.len() > 1)
}

#[test]
fn every_flag_in_the_prose_is_a_flag() {
    let home = Home::new();
    let helps: Vec<String> =
        ["check", "run", "report", "export", "settings", "settings apply", "settings restore"]
            .map(|name| home.seatrial(&format!("{name} --help")).run().exits(0).out)
            .into();
    let options = blocks("text").nth(1).expect("the block of node options").lines();
    let options = options.filter_map(|line| line.split("  ").next());
    let of_seatrial = quoted().into_iter().filter(|text| !text.starts_with("cargo "));
    for flag in of_seatrial.chain(options).flat_map(flags) {
        assert!(helps.iter().any(|help| help.contains(flag)), "no command has {flag}");
    }
}

#[test]
fn every_benchmark_and_every_file_that_is_named_exists() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let registry = seatrial_registry::REGISTRY;
    let families: BTreeSet<&str> = registry.abouts().filter_map(|about| about.id.split('.').next()).collect();
    let names = README.split(|sign: char| !(sign.is_ascii_alphanumeric() || "._".contains(sign)));
    let mut found = 0;
    for name in names.map(|name| name.trim_matches('.')) {
        let Some((family, _)) = name.split_once('.').filter(|(family, _)| families.contains(family)) else {
            continue;
        };
        let is_known = registry.find(name).is_some() || registry.alias(name).is_some();
        assert!(is_known, "there is no benchmark {name} ({family})");
        found += 1;
    }
    assert!(found > 6, "benchmarks are found");
    let links = README.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    for link in links.filter(|link| !link.contains("://")) {
        let file = link.split('#').next().unwrap_or_default();
        assert!(root.join(file).exists(), "there is no file {file}");
    }
}
