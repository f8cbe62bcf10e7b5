//! The list of runs, the list of benchmarks, and the page of one benchmark.

use seatrial_model::setting::{Privilege, SettingAbout};
use seatrial_model::{
    About, Alias, AxisSpec, Bytes, Cost, Factor, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts,
    Planned, SeriesSpec, Unit, Verdict,
};
use seatrial_report::list::{Everything, PatternPage, ProfileLine, alias_page, overview, page, pattern_page};
use seatrial_report::{TextStyle, history};

use super::golden;

const RATE: MetricSpec = MetricSpec::higher_is_better("rate", Unit::GigabitsPerSecond)
    .doc("Bytes sent over the common window of all parts, headers not counted, as the receiver saw them.");

const ECHO: About = About {
    id: "toy.echo",
    version: 1,
    title: "round trips between two processes",
    doc: "# toy.echo\n\nHow fast two processes *answer* each other.\n\n## How\n\n- One message at a time, `a * b` bytes long,\n  over a socket.\n- The clock runs on the sender.\n\n| size | what it is like |\n|---|---|\n| 1 B | a signal |\n| 64 KiB | a block of a file, which is larger than what the socket takes at once |\n\n```\nseatrial run toy.echo -p size=1B\n```\n",
    checks: &[],
    params: &[ParamSpec::new("size", Kind::Size(Bytes(1), Bytes::mib(64)), "64 KiB")
        .word("auto")
        .doc("Bytes of a message; auto is what the socket takes at once.")],
    metrics: &[RATE],
    series: &[SeriesSpec::higher_is_better(
        "by_size",
        Unit::GigabitsPerSecond,
        &[AxisSpec { name: "size", unit: Unit::Byte }],
    )
    .doc("Rate by size of the message.")],
    parts: Parts::Two(["sender", "receiver"]),
    needs: &[Need::Nodes(2), Need::Library("libibverbs.so.1")],
    probes: &["steal"],
    cost: Cost { seconds: 6, written: 3 << 20 },
    interaction: Interaction::Loads("one core of each node"),
};

static SETTING: SettingAbout = SettingAbout {
    id: "toy.buffer",
    title: "largest buffer to be asked for",
    doc: "",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "",
    traps: "",
};

#[test]
fn the_list_of_benchmarks() {
    let planned = [Planned { id: "net.tcp_stream", metrics: &[RATE] }];
    let profiles =
        [ProfileLine { id: "host".to_owned(), title: "each machine against its own limits".to_owned() }];
    let everything = Everything {
        benchmarks: &[&ECHO],
        aliases: &[ALIAS],
        planned: &planned,
        patterns: &[trunk()],
        settings: &[&SETTING],
        profiles: &profiles,
    };
    golden!("the_list_of_benchmarks", overview(&everything, TextStyle::default()));
}

const ALIAS: Alias = Alias {
    id: "toy.trunk",
    bench: "toy.echo",
    pattern: Some("trunk"),
    params: &[],
    title: "round trips between two groups",
    doc: "Measures `toy.echo` between two groups.",
};

const FACTOR: Factor =
    Factor { name: "method", doc: "The plain way to send.", off: &[("send", "write"), ("receive", "read")] };

fn trunk() -> PatternPage {
    let row = |step: &str, pairs: &str| (step.to_owned(), pairs.to_owned());
    PatternPage {
        id: "trunk".to_owned(),
        doc: "One pair between two halves of the nodes, then two at the same time.".to_owned(),
        notes: vec!["All pairs of a step are measured at one moment.".to_owned()],
        example: vec![row("step 1", "n1-n4"), row("step 2", "n1-n4, n2-n5")],
        names: vec!["toy.trunk".to_owned()],
    }
}

#[test]
fn the_page_of_a_pattern_and_of_a_name() {
    golden!("the_page_of_a_pattern", pattern_page(&trunk(), TextStyle::default()));
    golden!("the_page_of_a_name", alias_page(&ALIAS, Some(&trunk()), &ECHO, &[FACTOR], TextStyle::default()));
    let preset = Alias { id: "toy.large", pattern: None, params: &[("size", "1 MiB")], ..ALIAS };
    golden!(
        "the_page_of_a_name_with_parameters",
        alias_page(&preset, None, &ECHO, &[], TextStyle::default())
    );
}

#[test]
fn the_page_of_a_benchmark() {
    golden!("the_page_of_a_benchmark", page(&ECHO, &[], TextStyle::default()));
}

fn run(id: &str, state: &str, verdict: Option<Verdict>) -> history::HistoryRow {
    history::HistoryRow {
        id: id.to_owned(),
        state: state.to_owned(),
        started: Some("2026-09-21T08:30:15Z".parse().unwrap()),
        ended: (state == "ended").then(|| "2026-09-21T08:51:19Z".parse().unwrap()),
        // It was stopped for 20 minutes.
        seconds: (state == "ended").then_some(64.0),
        verdict,
        what: "check host -w n1 --time 10".to_owned(),
        nodes: vec!["n1".to_owned()],
        measured: 7,
        planned: 8,
        problems: 0,
        remark: None,
    }
}

#[test]
fn the_list_of_runs() {
    let mut damaged = run("20260922-090000-mnpq", "killed", None);
    damaged.remark = Some("run.json: EOF while parsing a value at line 1 column 0".to_owned());
    (damaged.started, damaged.what, damaged.nodes) = (None, String::new(), Vec::new());
    let mut whole = run("20260920-083015-bcdf", "ended", None);
    (whole.measured, whole.problems) = (8, 1);
    let rows = [
        whole,
        run("20260921-083015-bcdf", "ended", Some(Verdict::Pass)),
        run("20260921-091200-ghjk", "ended", None),
        damaged,
        run("20260923-070000-rstv", "running", None),
    ];
    golden!("the_list_of_runs", history::render(&rows, TextStyle::default()));
}

#[test]
fn no_runs_say_how_to_make_one() {
    assert_eq!(history::render(&[], TextStyle::default()), "no runs yet; `seatrial check` makes one\n");
}
