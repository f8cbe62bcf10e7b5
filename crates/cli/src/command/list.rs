//! `seatrial list`.

use seatrial_bench::Registry;
use seatrial_engine::{BISECT, Division, Ends, PATTERNS, Pattern, Step};
use seatrial_model::Alias;
use seatrial_model::name::benchmark_meant;
use seatrial_profile::{SHIPPED, Shipped};
use seatrial_report::list::{self, Everything, PatternPage, ProfileLine};
use seatrial_report::{TextStyle, settings};
use serde_json::{Value, json};

use crate::args::{ListArgs, TableOrJson};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

pub fn run(args: &ListArgs) -> Result<Exit, CliError> {
    let style = output::text_style(args.output.color);
    let known = |name: &String| page(name, style).ok_or_else(|| unknown(name));
    let page = args.name.as_ref().map(known).transpose()?;
    let text = match args.output.output {
        TableOrJson::Table => page.unwrap_or_else(|| everything(|all| list::overview(all, style))),
        TableOrJson::Json => format!("{:#}\n", described(args.name.as_deref())),
    };
    output::print(&text)?;
    Ok(Exit::MET)
}

/// The definitions for programs: all, or those with the id `name`.
fn described(name: Option<&str>) -> Value {
    let mut all = everything(|all| json!(all));
    let benchmarks = all["benchmarks"].as_array_mut().into_iter().flatten();
    for (about, bench) in benchmarks.zip(seatrial_registry::REGISTRY.benchmarks()) {
        about["factors"] = json!(bench.factors);
    }
    for shipped in SHIPPED {
        let profiles = all["profiles"].as_array_mut().into_iter().flatten();
        profiles
            .filter(|profile| profile["id"] == shipped.name)
            .for_each(|it| it["text"] = json!(shipped.text));
    }
    for (setting, about) in seatrial_settings::registry().abouts().enumerate() {
        for (at, apply) in about.apply.iter().enumerate() {
            let way = &mut all["settings"][setting]["apply"][at];
            way["command"] = json!(about.template(apply));
            way["file"] = json!(about.path(apply));
        }
    }
    if let Some(name) = name {
        let kinds = all.as_object_mut().into_iter().flat_map(|all| all.values_mut());
        kinds.filter_map(Value::as_array_mut).for_each(|kind| kind.retain(|entry| entry["id"] == name));
    }
    all["schema"] = json!(1);
    all
}

/// Uses the definitions of everything that can be run, read and judged.
fn everything<T>(using: impl FnOnce(&Everything<'_>) -> T) -> T {
    let registry = seatrial_registry::REGISTRY;
    let known_settings = seatrial_settings::registry();
    using(&Everything {
        benchmarks: &registry.abouts().collect::<Vec<_>>(),
        aliases: &registry.aliases().copied().collect::<Vec<_>>(),
        planned: registry.planned,
        patterns: &PATTERNS.iter().map(pattern).collect::<Vec<_>>(),
        settings: &known_settings.abouts().collect::<Vec<_>>(),
        profiles: &SHIPPED.iter().map(line).collect::<Vec<_>>(),
    })
}

/// The page of the benchmark, pattern, setting or profile `name`.
fn page(name: &str, style: TextStyle) -> Option<String> {
    let registry = seatrial_registry::REGISTRY;
    let bench = registry.find(name).map(|bench| list::page(bench.about, bench.factors, style));
    bench
        .or_else(|| registry.alias(name).and_then(|alias| alias_page(alias, &registry, style)))
        .or_else(|| Pattern::find(name).map(|known| list::pattern_page(&pattern(known), style)))
        .or_else(|| {
            let setting = seatrial_settings::registry().find(name);
            setting.map(|setting| settings::page(setting.about(), style))
        })
        .or_else(|| {
            let shipped = SHIPPED.iter().find(|shipped| shipped.name == name);
            shipped.map(|shipped| shipped.text.to_owned())
        })
}

fn alias_page(alias: &Alias, registry: &Registry, style: TextStyle) -> Option<String> {
    let bench = registry.find(alias.bench)?;
    let under = alias.pattern.and_then(Pattern::find).map(pattern);
    Some(list::alias_page(alias, under.as_ref(), bench.about, bench.factors, style))
}

fn unknown(name: &str) -> CliError {
    let registry = seatrial_registry::REGISTRY;
    let known_settings = seatrial_settings::registry();
    let known = registry
        .names()
        .chain(PATTERNS.iter().map(|pattern| pattern.id))
        .chain(known_settings.abouts().map(|about| about.id))
        .chain(SHIPPED.iter().map(|shipped| shipped.name));
    let meant = benchmark_meant(name, &known.collect::<Vec<_>>());
    let text = format!("there is no benchmark, pattern, setting or profile '{name}'{meant}");
    CliError::Usage(text)
}

fn line(shipped: &Shipped) -> ProfileLine {
    let title = shipped.text.lines().find_map(|line| line.strip_prefix("title = "));
    ProfileLine { id: shipped.name.to_owned(), title: title.unwrap_or_default().trim_matches('"').to_owned() }
}

/// Nodes of the example on a pattern's page.
const SHOWN: usize = 6;

/// A pattern in words, with its pairs of a few nodes.
fn pattern(pattern: &Pattern) -> PatternPage {
    let mut notes = vec![if pattern.has_groups {
        "A case of it starts to measure at one moment on all its nodes."
    } else if pattern.at_once {
        "All pairs of a step are measured at the same time, also pairs that share a node; steps run one \
         after the other."
    } else {
        "Pairs without a common node are measured at the same time, other pairs one after the other."
    }];
    if pattern.id == BISECT {
        notes = vec![
            "Two groups without a common node are measured at the same time. docs/bisect.md says how they are chosen.",
        ];
    }
    if pattern.has_rounds {
        notes.push("Rounds are random, and the same in every run; --rounds sets their number.");
    }
    if pattern.id == "trunk" {
        notes.push("With --links COUNT, the expected number of links, a link without traffic is found.");
    }
    let players: Vec<usize> = (0..SHOWN).collect();
    let steps = pattern.steps(&Ends {
        players: &players,
        partners: None,
        rounds: None,
        division: Division::Count(2),
    });
    let groups = |step: &Step| {
        let group = |group: &Vec<usize>| match group.as_slice() {
            [only] => format!("n{0}-n{0}", only + 1),
            nodes => nodes.iter().map(|node| format!("n{}", node + 1)).collect::<Vec<_>>().join("-"),
        };
        step.groups.iter().map(group).collect::<Vec<_>>().join(", ")
    };
    let named = |step: &Step| {
        let name = if pattern.has_groups {
            "groups".to_owned()
        } else if steps.len() == 1 {
            "pairs".to_owned()
        } else {
            format!("step {}", step.number)
        };
        (name, groups(step))
    };
    PatternPage {
        id: pattern.id.to_owned(),
        doc: pattern.doc.to_owned(),
        notes: notes.into_iter().map(str::to_owned).collect(),
        example: steps.iter().map(named).collect(),
        names: seatrial_registry::REGISTRY
            .aliases()
            .filter(|alias| alias.pattern == Some(pattern.id))
            .map(|it| it.id.to_owned())
            .collect(),
    }
}
