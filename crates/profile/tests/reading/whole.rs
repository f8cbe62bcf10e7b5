//! Valid profiles: the meaning of every key.

use crate::common::{TODAY, read};
use seatrial_model::profile::{Absence, Bar, Bounds, Expect, Missed, PriceRule, Statistic};
use seatrial_model::{Unit, Value};
use seatrial_profile::Severity;

const WHOLE: &str = r#"
id = "site"
title = "our site"
description = "All keys there are."

[[test]]
id = "memory"
use = "mem.bandwidth"
roles = ["head", "production"]
params = { kernel = ["read", "triad"], store = "nt", array = "65536 KiB", trials = 5 }
on = { kind = "nic", members = 64, up = false }
require = { members = { at_least = "50 %", at_most = 90 }, duplex = { equals = "off" }, up = true }
expect = { at_least = 1 }
if_none = "skip"

[[test]]
id = "echo"
use = "net.echo"
on = { kind = "nic" }
expect = "all"
pattern = "pair"
partner = "head"

[[test]]
id = "uplink"
use = "net.echo"
rounds = 4
links = 6

[[test]]
id = "gpu"
use = "gpu.host_copy"
params = { size = "1 GiB" }

[[criterion]]
id = "fast"
test = "memory"
metric = "bandwidth"
where = { kernel = "triad", array = "64 MiB" }
of = "worst"
at_least = { percent_of = "limit", value = "70 %" }

[[criterion]]
test = "memory"
metric = "by_size"
at = { size = "64 KiB" }
within = ["8 Gbit/s", { percent_of = "reference", value = 110.5 }]

[[criterion]]
test = "memory"
metric = "threads"
equals = 8
missed = "warn"

[[criterion]]
test = "gpu"
metric = "bandwidth"
where = { size = "1 GiB" }
at_least = { percent_of = "fleet_median", value = 95 }

[[setting]]
id = "net.mtu"
at_least = 9000
on = { kind = "nic", speed = "10 Gbit/s", up = true }
roles = ["head"]
why = "the tender"

[[setting]]
id = "net.mtu"
equals = 1500
on = { name = "mgmt0" }

[[setting]]
id = "net.shares"
at_least = ["4 KiB", 65536]
at_most = ["4 KiB", "1 MiB"]

[[setting]]
id = "net.shares"
equals = "4096 65536"
roles = ["head"]

[[setting]]
id = "cpu.governor"
none_of = ["powersave"]
missed = "warn"
without_value = "skip"

[roles.head]
nodes = "n1"
expect = { exactly = 1 }

[roles.production]
nodes = "n[2-9]"

[[waiver]]
criterion = "fast"
nodes = "n[3-4]"
owner = "Ada"
reason = "DIMM ordered"
until = 2026-03-01

[[waiver]]
criterion = "net.mtu"
owner = "Ada"
reason = "switch not ready"
until = "2026-02-28"

[[limit]]
test = "memory"
metric = "bandwidth"
where = { kernel = "read" }
value = "204.8 GB/s"
source = "8 channels of DDR4-3200"

[[price]]
on = { kind = "nic", speed = "10 Gbit/s" }
amount = 99.5
currency = "EUR"
source = "the offer of May"

[[price]]
on = { kind = "disk" }
amount = 400
share = { of = "shelf", ports = 12 }
currency = "EUR"
"#;

#[test]
fn every_key_reaches_the_profile() {
    let profile = read(WHOLE).expect("it loads").profile;
    assert_eq!((profile.id.as_str(), profile.title.as_str()), ("site", "our site"));
    let memory = profile.test("memory").expect("it is there");
    assert_eq!(memory.roles, ["head", "production"]);
    let values = |name: &str| memory.params[name].join(" ");
    assert_eq!(
        (values("kernel"), values("array"), values("trials")),
        ("read triad".into(), "64 MiB".into(), "5".into())
    );
    assert_eq!(
        (memory.on.get("members"), memory.on.get("up")),
        (Some(&Value::Count(64)), Some(&Value::Flag(false)))
    );
    assert_eq!(memory.require["members"].to_string(), "at least 50 % and at most 90");
    assert_eq!(memory.require["duplex"].equals, Some(Value::from("off")));
    assert_eq!(memory.require["up"].equals, Some(Value::Flag(true)));
    assert_eq!(memory.expect, Some(Expect { at_least: Some(1), ..Expect::default() }));
    let echo = profile.test("echo").expect("it is there");
    assert_eq!((echo.pattern.as_deref(), echo.partner.as_deref()), (Some("pair"), Some("head")));
    assert_eq!((echo.rounds, echo.links), (None, None));
    assert_eq!(echo.expect, Some(Expect { all: true, ..Expect::default() }));
    assert_eq!((memory.if_none, echo.if_none), (Absence::Skip, Absence::Unknown));
    let uplink = profile.test("uplink").expect("it is there");
    assert_eq!((uplink.rounds, uplink.links), (Some(4), Some(6)));
    let [card, disk] = profile.prices.as_slice() else { panic!("{:?}", profile.prices) };
    assert_eq!(card.on.get("speed"), Some(&Value::from("10 Gbit/s")));
    assert_eq!(
        (card.amount, card.currency.as_str(), card.source.as_deref()),
        (99.5, "EUR", Some("the offer of May"))
    );
    assert_eq!((disk.amount, disk.source.as_deref()), (400.0, None));
    let shared = |price: &PriceRule| price.share.as_ref().map(|share| (share.of.clone(), share.ports));
    assert_eq!((shared(card), shared(disk)), (None, Some(("shelf".to_owned(), 12))));
    assert!(profile.test("gpu").is_some_and(|test| test.planned) && !memory.planned);

    let [fast, series, threads, gpu] = profile.criteria.as_slice() else { panic!("{:?}", profile.criteria) };
    assert_eq!((fast.id.as_str(), fast.of), ("fast", Statistic::Worst));
    assert_eq!(fast.cases.get("array"), Some(&Value::from("64 MiB")));
    assert_eq!(fast.bounds, Bounds::AtLeast(Bar::PercentOfLimit(70.0)));
    assert_eq!(series.id, "memory.by_size@size=64 KiB");
    assert_eq!(series.bounds.to_string(), "from 8 Gbit/s to 110.5 % of the reference");
    assert_eq!(threads.bounds.to_string(), "exactly 8");
    assert_eq!(gpu.bounds, Bounds::AtLeast(Bar::PercentOfFleetMedian(95.0)));

    let settings: Vec<_> = profile.settings.iter().map(|rule| (rule.id.as_str(), rule.bound())).collect();
    let shares = "at least 4 KiB, 64 KiB and at most 4 KiB, 1 MiB".to_owned();
    assert_eq!(
        settings,
        [
            ("net.mtu", "at least 9000".to_owned()),
            ("net.mtu", "exactly 1500".to_owned()),
            ("net.shares", shares),
            ("net.shares", "exactly 4 KiB, 64 KiB".to_owned()),
            ("cpu.governor", "not powersave".to_owned()),
        ]
    );
    let governor = &profile.settings[4];
    assert_eq!((governor.missed, governor.without_value), (Missed::Warn, Absence::Skip));
    assert_eq!((threads.missed, fast.missed), (Missed::Warn, Missed::Fail));
    let mtu = &profile.settings[0];
    assert_eq!((mtu.missed, mtu.without_value), (Missed::Fail, Absence::Unknown));
    assert_eq!((mtu.on.iter().count(), mtu.on.get("up")), (3, Some(&Value::Flag(true))));
    assert_eq!((mtu.roles.as_slice(), mtu.why.as_deref()), (&["head".to_owned()][..], Some("the tender")));
    assert_eq!(profile.roles["production"].nodes.names().count(), 8);
    assert_eq!(profile.roles["head"].expect, Some(Expect { exactly: Some(1), ..Expect::default() }));
    let limit = &profile.limits[0];
    assert_eq!((limit.value.value(), limit.value.unit()), (204.8, Unit::GigabytesPerSecond));
}

#[test]
fn a_waiver_holds_on_its_last_day_and_warns_after_it() {
    let loaded = read(WHOLE).expect("it loads");
    let waivers = loaded.profile.waivers.iter();
    let held: Vec<_> = waivers.filter(|waiver| TODAY <= waiver.until).collect();
    let [waiver] = held.as_slice() else { panic!("{:?}", loaded.profile.waivers) };
    assert_eq!((waiver.criterion.as_str(), waiver.until), ("fast", TODAY));
    assert_eq!(loaded.profile.waivers.len(), 2, "the verdict tells that one ended");
    assert!(loaded.warnings.titles().all(|(severity, _)| severity == Severity::Warning));
    insta::assert_snapshot!(loaded.warnings);
}

#[test]
fn a_profile_survives_its_own_json() {
    let profile = read(WHOLE).expect("it loads").profile;
    let json = serde_json::to_string(&profile).expect("it is written");
    let again: seatrial_model::profile::Profile = serde_json::from_str(&json).expect("it is read");
    assert_eq!(again, profile);
}

#[test]
fn a_limit_supplied_by_a_site_extends_host() {
    let text = "extends = [\"host\"]\n[[limit]]\ntest = \"memory\"\nmetric = \"bandwidth\"\nvalue = \"204.8 GB/s\"\n\
                source = \"data sheet\"\n";
    let profile = read(text).expect("it loads").profile;
    assert_eq!((profile.limits.len(), profile.extends.as_slice()), (1, &["host".to_owned()][..]));
    assert!(profile.criteria.iter().any(|criterion| criterion.test == "memory"));
}

#[test]
fn a_name_stands_for_its_benchmark_and_pattern() {
    let text = |more: &str| {
        format!(
            "title = \"t\"\n[[test]]\nid = \"a\"\nuse = \"net.circle\"\n{more}\
             [[criterion]]\ntest = \"a\"\nmetric = \"latency\"\nat_most = \"1 ms\"\n"
        )
    };
    for more in ["", "pattern = \"ring\"\n"] {
        let profile = read(&text(more)).expect("a profile").profile;
        assert_eq!(profile.tests[0].bench, "net.echo");
        assert_eq!(profile.tests[0].pattern.as_deref(), Some("ring"));
    }
    let refused = read(&text("pattern = \"pair\"\n")).expect_err("two patterns").render(false);
    assert!(refused.contains("net.circle is net.echo with the pattern ring"), "{refused}");
}

#[test]
fn a_name_stands_for_its_benchmark_and_parameters() {
    let text = |more: &str| {
        format!(
            "title = \"t\"\n[[test]]\nid = \"a\"\nuse = \"mem.short\"\n{more}\
             [[criterion]]\ntest = \"a\"\nmetric = \"bandwidth\"\nat_least = \"1 GB/s\"\n"
        )
    };
    let test = read(&text("")).expect("a profile").profile.tests.remove(0);
    assert_eq!((test.bench.as_str(), test.pattern), ("mem.bandwidth", None));
    assert_eq!(test.params["trials"], ["1"]);
    let refused = read(&text("params = { trials = 2 }\n")).expect_err("two values").render(false);
    assert!(refused.contains("mem.short is mem.bandwidth with trials=1"), "{refused}");
}

#[test]
fn the_time_of_a_profile_is_its_own_and_not_inherited() {
    let test = "[[test]]\nid = \"e\"\nuse = \"net.echo\"\n";
    let own = read(&format!("time_budget = \"90 s\"\n{test}")).expect("it loads").profile;
    assert_eq!(own.time_budget, Some(seatrial_model::Nanos::secs(90)));
    let heir = read(&format!("extends = [\"host\"]\n{test}")).expect("it loads").profile;
    assert_eq!(heir.time_budget, None);
    let error = read(&format!("time_budget = \"soon\"\n{test}")).expect_err("no time").to_string();
    assert!(error.contains("'time_budget'"), "{error}");
}
