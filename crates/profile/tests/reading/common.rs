//! A catalog of invented benchmarks, and profiles read against it.

use jiff::civil::{Date, date};
use seatrial_model::setting::{Privilege, SettingAbout};
use seatrial_model::{
    About, Alias, AxisSpec, Better, Bytes, Kind, MetricSpec, ParamSpec, Parts, Planned, SeriesSpec, Unit,
};
use seatrial_profile::{Catalog, Diagnostics, Loaded, Shipped, Source, load};

pub const TODAY: Date = date(2026, 3, 1);

const fn metric(name: &'static str, unit: Unit, better: Better) -> MetricSpec {
    MetricSpec::new(name, unit, better).doc("A metric.")
}

const fn param(
    name: &'static str,
    kind: Kind,
    word: Option<&'static str>,
    default: &'static str,
) -> ParamSpec {
    ParamSpec { name, doc: "A parameter.", kind, word, default }
}

static MEMORY: About = About {
    id: "mem.bandwidth",
    title: "invented",
    params: &[
        param("kernel", Kind::Choice(&["read", "write", "copy", "triad"]), None, "triad"),
        param("store", Kind::Choice(&["regular", "nt"]), Some("auto"), "auto"),
        param("array", Kind::Size(Bytes::mib(1), Bytes::gib(1024)), Some("auto"), "auto"),
        param("trials", Kind::Count(1, 100), None, "3"),
        param("max_trials", Kind::Count(1, 100), Some("auto"), "auto"),
    ],
    metrics: &[
        metric("bandwidth", Unit::GigabytesPerSecond, Better::Higher),
        metric("bandwidth_all", Unit::GigabytesPerSecond, Better::Higher),
        metric("threads", Unit::Count, Better::None),
    ],
    series: &[SeriesSpec::higher_is_better(
        "by_size",
        Unit::GigabytesPerSecond,
        &[AxisSpec { name: "size", unit: Unit::Byte }],
    )
    .doc("A series.")],
    ..About::WORKER
};

static ECHO: About = About {
    id: "net.echo",
    params: &[],
    metrics: &[
        metric("latency", Unit::Nanosecond, Better::Lower),
        metric("loss", Unit::Percent, Better::Lower),
    ],
    series: &[],
    parts: Parts::Two(["client", "server"]),
    ..MEMORY
};

static GOVERNOR: SettingAbout = SettingAbout {
    id: "cpu.governor",
    title: "invented",
    doc: "",
    kind: Kind::Choice(&["performance", "powersave"]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &["by"],
    source: "",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "",
    traps: "",
};

static MTU: SettingAbout = SettingAbout {
    id: "net.mtu",
    kind: Kind::Count(68, 65535),
    unlimited: Some("-1"),
    subject: "nic",
    facts: &["name", "speed", "up"],
    ..GOVERNOR
};

static MEMORY_SHARES: SettingAbout = SettingAbout {
    id: "net.shares",
    kind: Kind::Size(Bytes(1), Bytes::gib(4)),
    fields: &["min", "max"],
    ..GOVERNOR
};

const PLANNED: &[Planned] = &[Planned {
    id: "gpu.host_copy",
    metrics: &[metric("bandwidth", Unit::GigabytesPerSecond, Better::Higher)],
}];

/// A shipped profile for tests. The real ones name real benchmarks, and are tested where these are known.
pub const SHIPPED: &[Shipped] = &[Shipped {
    name: "host",
    text: "title = \"invented\"\ndescription = \"for tests\"\ntime_budget = \"90 s\"\n\
           [[test]]\nid = \"memory\"\nuse = \"mem.bandwidth\"\n\
           [[criterion]]\ntest = \"memory\"\nmetric = \"bandwidth\"\nat_least = { percent_of = \"limit\", value = 55 }\n",
}];

const CIRCLE: Alias = Alias {
    id: "net.circle",
    bench: "net.echo",
    pattern: Some("ring"),
    params: &[],
    title: "invented",
    doc: "",
};
const SHORT: &[(&str, &str)] = &[("trials", "1")];

pub const CATALOG: Catalog<'static> = Catalog {
    abouts: &[&MEMORY, &ECHO],
    planned: PLANNED,
    settings: &[&GOVERNOR, &MTU, &MEMORY_SHARES],
    patterns: &["pair", "ring"],
    aliases: &[
        CIRCLE,
        Alias { id: "mem.short", bench: "mem.bandwidth", pattern: None, params: SHORT, ..CIRCLE },
    ],
};

/// Reads `text` as the profile `p.toml`.
pub fn read(text: &str) -> Result<Loaded, Diagnostics> {
    let source = Source::Text { name: "p.toml".to_owned(), text: text.to_owned() };
    load(&source, SHIPPED, &CATALOG, TODAY)
}

/// The messages about the invalid profile `text`.
pub fn complaint(text: &str) -> String {
    read(text).expect_err("the profile was taken").render(false)
}
