//! One reference page a benchmark, from the same definition that `seatrial list` shows.

use std::fmt::Write;

use seatrial_bench::Registry;
use seatrial_model::{About, Better, Bytes, Factor, Interaction, Need, Parts, Unit};

use super::File;

const MARK: &str = "<!-- Made by `cargo xtask generate` from the benchmark's own definition. -->\n";

/// The pages of all benchmarks, and a list of them.
pub fn pages(registry: &Registry) -> Vec<File> {
    let pages = registry.benchmarks().map(|bench| {
        let about = bench.about;
        File::new(format!("docs/benchmarks/{}.md", about.id), &page(about, bench.factors))
    });
    pages.chain([File::new("docs/benchmarks/README.md", &index(registry))]).collect()
}

fn index(registry: &Registry) -> String {
    let mut text = format!("{MARK}# Benchmarks\n\n| benchmark | measures | headline |\n|---|---|---|\n");
    for about in registry.abouts() {
        let headline =
            about.metrics.first().map_or(String::new(), |metric| format!("{}, {}", metric.name, metric.unit));
        push(&mut text, &[&format!("[`{0}`]({0}.md)", about.id), about.title, &headline]);
    }
    if !registry.planned.is_empty() {
        text += "\nStill to come; a profile may name them already, and they judge as unknown:\n\n";
        for planned in registry.planned {
            let metrics: Vec<String> =
                planned.metrics.iter().map(|metric| format!("{} ({})", metric.name, metric.unit)).collect();
            writeln!(text, "- `{}`: {}", planned.id, metrics.join(", ")).expect("a String takes all");
        }
    }
    text
}

fn page(about: &About, factors: &[Factor]) -> String {
    let mut text = format!("{MARK}# `{}`: {}\n\n{}\n", about.id, about.title, body(about.doc));
    if !about.checks.is_empty() {
        text += "\n## What to check when a result is bad, in this order\n\n| who | what |\n|---|---|\n";
        for check in about.checks {
            push(&mut text, &[check.actor.words(), &check.action]);
        }
    }
    if !about.params.is_empty() {
        text += "\n## Parameters\n\n| parameter | default | values | meaning |\n|---|---|---|---|\n";
        for param in about.params {
            let word = param.word.map_or(String::new(), |word| format!("{word} | "));
            let values = format!("{word}{}", param.kind.describe());
            push(
                &mut text,
                &[&format!("`{}`", param.name), &format!("`{}`", param.default), &values, param.doc],
            );
        }
    }
    if !factors.is_empty() {
        text += "\n## Factors\n\nBeside the parameters, `--factors` knows:\n\n| factor | without it | meaning |\n|---|---|---|\n";
        for factor in factors {
            let off: Vec<String> =
                factor.off.iter().map(|(name, value)| format!("`{name}={value}`")).collect();
            push(&mut text, &[&format!("`{}`", factor.name), &off.join(" "), factor.doc]);
        }
    }
    text += "\n## Metrics\n\n| metric | unit | better | meaning |\n|---|---|---|---|\n";
    for metric in about.metrics {
        let name = format!("`{}`", metric.name);
        push(&mut text, &[&name, metric.unit.symbol(), direction(metric.better), metric.doc]);
    }
    if !about.series.is_empty() {
        text += "\n## Series\n\n| series | unit | better | axes | meaning |\n|---|---|---|---|---|\n";
        for series in about.series {
            let axes: Vec<String> = series.axes.iter().map(|axis| axis_text(axis.name, axis.unit)).collect();
            let (name, axes) = (format!("`{}`", series.name), axes.join(" x "));
            push(&mut text, &[&name, series.unit.symbol(), direction(series.better), &axes, series.doc]);
        }
    }
    writeln!(text, "\n## Requirements and cost\n\n{}", facts(about)).expect("a String takes all");
    text
}

fn facts(about: &About) -> String {
    let listed =
        |empty: &str, words: Vec<String>| if words.is_empty() { empty.to_owned() } else { words.join(", ") };
    let unnamed = match (about.parts, about.id.starts_with("rdma.")) {
        (Parts::Two(_) | Parts::OneWay(_), true) => "two nodes, two cards of one node, or `--pattern alone`",
        (Parts::Two(_) | Parts::OneWay(_), false) => "two nodes, or one with `--pattern alone`",
        (Parts::TwoOrMore(_), _) => "two nodes or more",
        (Parts::AllNodes(_), _) => "one node or more",
        _ => "nothing special",
    };
    let needs = listed(unnamed, about.needs.iter().map(need).collect());
    let probes = listed("none", about.probes.iter().map(|id| format!("`{id}`")).collect());
    let isolating = about.isolating().map_or_else(String::new, |metric| {
        format!("- `--pattern isolate` compares groups of nodes by `{}`.\n", metric.name)
    });
    format!(
        "- Needs: {needs}.\n- Cost: about {} s a case with defaults{}.\n- Effect on the machine: {}.\n\
         - Counters read before and after each trial: {probes}.\n- Evidence and record that this page names: `seatrial report RUN -o json`.\n{isolating}- Definition version {}; \
         results of different versions are not comparable.",
        about.cost.seconds,
        written(about.cost.written),
        interaction(about.interaction),
        about.version,
    )
}

fn written(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format!(", up to {} written", Bytes(bytes).rounded()) }
}

fn need(need: &Need) -> String {
    match need {
        Need::Library(name) => format!("the library {name}, found at run time"),
        Need::Privilege(what) => format!("the privilege {what}"),
        Need::Nodes(count) => format!("{count} nodes"),
        Need::Directory => "a writable directory".to_owned(),
    }
}

fn interaction(interaction: Interaction) -> String {
    match interaction {
        Interaction::Passive => "reads only, nobody notices".to_owned(),
        Interaction::Loads(what) => format!("loads {what} while it runs"),
        Interaction::Disrupts(what) => format!("changes {what} while it runs, and puts it back"),
    }
}

fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::None => "neither",
    }
}

fn axis_text(name: &str, unit: Unit) -> String {
    if unit == Unit::Count { name.to_owned() } else { format!("{name} ({unit})") }
}

/// A row of a table; a bar inside a cell would end it.
fn push(text: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    writeln!(text, "| {} |", cells.join(" | ")).expect("a String takes all");
}

/// The benchmark's own page without its title, which the generated one has already.
fn body(doc: &str) -> &str {
    match doc.split_once('\n') {
        Some((title, body)) if title.starts_with("# ") => body.trim(),
        _ => doc.trim(),
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Actor, AxisSpec, Cost, Kind, MetricSpec, ParamSpec, Remedy, SeriesSpec};

    use super::*;

    const ABOUT: About = About {
        id: "toy.spin",
        version: 3,
        title: "how fast a top spins",
        doc: "# toy.spin\n\nSpins a top.\n\n## How\n\nBy hand.\n",
        checks: &[Remedy::new(Actor::User, "oil the axle")],
        params: &[ParamSpec {
            name: "hand",
            doc: "The hand.",
            kind: Kind::Choice(&["left", "right"]),
            word: Some("auto"),
            default: "auto",
        }],
        metrics: &[MetricSpec::higher_is_better("speed", Unit::Hertz).doc("Turns.")],
        series: &[SeriesSpec {
            name: "fall",
            doc: "Time to the fall.",
            unit: Unit::Second,
            better: Better::None,
            axes: &[
                AxisSpec { name: "size", unit: Unit::Mebibyte },
                AxisSpec { name: "try", unit: Unit::Count },
            ],
            column: None,
        }],
        parts: Parts::One("worker"),
        needs: &[Need::Nodes(2)],
        probes: &["cpu"],
        cost: Cost { seconds: 9, written: 0 },
        interaction: Interaction::Loads("the table"),
    };

    #[test]
    fn a_page_holds_the_text_and_every_definition() {
        let hands = Factor {
            name: "hands",
            doc: "One hand in a glove.",
            off: &[("hand", "left"), ("glove", "true")],
        };
        let text = page(&ABOUT, &[hands]);
        for wanted in [
            "# `toy.spin`: how fast a top spins\n\nSpins a top.\n\n## How",
            "in this order\n\n| who | what |\n|---|---|\n| user | oil the axle |",
            "| `hand` | `auto` | auto \\| left \\| right | The hand. |",
            "## Factors\n\nBeside the parameters, `--factors` knows:",
            "| `hands` | `hand=left` `glove=true` | One hand in a glove. |",
            "| `speed` | Hz | higher | Turns. |",
            "| `fall` | s | neither | size (MiB) x try | Time to the fall. |",
            "Needs: 2 nodes.",
            "about 9 s a case",
            "loads the table while it runs",
            "`cpu`",
            "version 3",
        ] {
            assert!(text.contains(wanted), "{wanted}\nis not in\n{text}");
        }
        assert_eq!(text.matches("toy.spin").count(), 1, "{text}");
        assert!(!page(&ABOUT, &[]).contains("Factors"), "a benchmark without any has no such section");
    }

    #[test]
    fn the_index_names_every_benchmark_and_what_is_planned() {
        let registry = seatrial_registry::REGISTRY;
        let text = index(&registry);
        for about in registry.abouts() {
            assert!(text.contains(&format!("[`{0}`]({0}.md)", about.id)), "{text}");
        }
        for planned in registry.planned {
            assert!(text.contains(planned.id), "{text}");
        }
    }
}
