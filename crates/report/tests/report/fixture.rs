//! Made-up records that look like real ones.

use std::collections::BTreeMap;

use seatrial_model::record::{
    Axis, CaseRecord, Document, MetricRecord, ProfileRef, RunEnd, RunInfo, RunOptions, SCHEMA_VERSION,
    SeriesRecord, SeriesRow, Summary,
};
use seatrial_model::{
    About, Actor, Better, Bound, Cause, Finding, LimitRecord, Outcome, Params, Quantity, Remedy, Severity,
    Subject, Unit, Value, Verdict, VerdictRecord,
};

pub const NO_LIMIT: &str = "cannot read /sys/firmware/dmi/tables/DMI: Permission denied (os error 13)";

/// The benchmarks, whose checks a report offers.
pub fn abouts() -> Vec<&'static About> {
    seatrial_registry::REGISTRY.abouts().collect()
}

pub fn params(pairs: &[(&str, &str)]) -> Params {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
}

pub fn summary(median: f64, half_percent: f64) -> Summary {
    let half = median * half_percent / 100.0;
    Summary {
        n: 240,
        trials: 3,
        median,
        mad: half * 2.0,
        min: median - 9.0 * half,
        max: median + 4.0 * half,
        mean: median - half,
        p99: Some(median + 3.0 * half),
        ci95: Some((median - half, median + half)),
    }
}

pub fn limit(value: f64) -> LimitRecord {
    limit_from(value, "8 channels x 4800 MT/s x 8 B", "dmi")
}

pub fn limit_from(value: f64, formula: &str, provenance: &str) -> LimitRecord {
    let formula = formula.to_owned();
    let bound = Bound {
        value: Quantity::new(value, Unit::GigabytesPerSecond).unwrap(),
        formula: formula.clone(),
        provenance: provenance.to_owned(),
        nominal: None,
    };
    LimitRecord {
        nominal: None,
        value: Some(value),
        formula: Some(formula),
        provenance: Some(provenance.to_owned()),
        reason: None,
        chain: vec![bound],
    }
}

pub fn metric(median: f64, half_percent: f64, limit: LimitRecord) -> MetricRecord {
    let mut metric =
        MetricRecord::new(Unit::GigabytesPerSecond, Better::Higher, &summary(median, half_percent), limit);
    metric.converged = half_percent < 2.0;
    metric
}

/// A case of `mem.bandwidth` without numbers.
pub fn case(node: &str, kernel: &str, store: &str) -> CaseRecord {
    let mut asked = params(&[("array", "auto"), ("kernel", kernel), ("store", store), ("threads", "auto")]);
    asked.set("trials", 3);
    let changed = params(&[("kernel", kernel), ("store", store)]);
    let Ok(id) = format!("mem.bandwidth@{node}/node[{changed}]").parse();
    CaseRecord {
        case: id,
        bench: "mem.bandwidth".to_owned(),
        version: 1,
        subject: Subject::node(),
        key: None,
        nodes: vec![node.to_owned()],
        lost: Vec::new(),
        retry_of: None,
        group: "memory".to_owned(),
        params: asked,
        chosen: params(&[("array", "1 GiB"), ("store", if kernel == "read" { "none" } else { store })]),
        layout: Params::default(),
        origin: Default::default(),
        facts: Params::default(),
        outcome: Outcome::Measured,
        cause: None,
        reason: None,
        headline: None,
        metrics: Default::default(),
        series: BTreeMap::new(),
        evidence: BTreeMap::new(),
        findings: Vec::new(),
        seconds: 6.2,
    }
}

/// A measured case: best and all-core bandwidth, traffic, and the series over threads.
pub fn measured(node: &str, kernel: &str, store: &str, median: f64, limit: &LimitRecord) -> CaseRecord {
    let mut record = case(node, kernel, store);
    record.metrics.insert("bandwidth".to_owned(), metric(median, 0.4, limit.clone()));
    record.metrics.insert("bandwidth_all".to_owned(), metric(median * 0.97, 0.7, limit.clone()));
    let factor = if store == "regular" { 4.0 / 3.0 } else { 1.0 };
    record.metrics.insert("traffic".to_owned(), metric(median * factor, 0.4, limit.clone()));
    let by_threads = by_threads(median, &[(1, 0.06), (8, 0.45), (28, 0.95), (56, 0.97)]);
    record.series.insert("by_threads".to_owned(), by_threads);
    record
}

/// Shares of `median` over numbers of threads.
fn by_threads(median: f64, shares: &[(u64, f64)]) -> SeriesRecord {
    let row = |&(threads, share): &(u64, f64)| {
        let at = [("threads".to_owned(), Value::Count(threads))].into_iter().collect();
        SeriesRow { at, summary: summary(median * share, 0.5) }
    };
    series(vec![("threads", Unit::Count)], shares.iter().map(row).collect())
}

pub fn series(axes: Vec<(&str, Unit)>, rows: Vec<SeriesRow>) -> SeriesRecord {
    let axes = axes.into_iter().map(|(name, unit)| Axis { name: name.to_owned(), unit }).collect();
    SeriesRecord { unit: Unit::GigabytesPerSecond, better: Better::Higher, axes, rows, column: None }
}

pub fn without_numbers(node: &str, kernel: &str, cause: Cause, reason: &str) -> CaseRecord {
    let mut record = case(node, kernel, "nt");
    record.outcome = cause.outcome();
    record.cause = Some(cause);
    record.reason = Some(reason.to_owned());
    record
}

pub fn judged(record: &CaseRecord, verdict: Verdict, percent: f64, reason: Option<&str>) -> VerdictRecord {
    let metric = record.metrics.get("bandwidth");
    let rate = |value: f64| Quantity::new(value, Unit::GigabytesPerSecond).unwrap();
    let margin = |metric: &MetricRecord| Some(100.0 * (metric.percent_of_limit()? / percent - 1.0));
    let kernel = record.params.get("kernel").unwrap();
    let bound = match metric.and_then(|metric| metric.limit.value) {
        Some(limit) => {
            let (bound, decimals) = (limit * percent / 100.0, usize::from(limit < 1000.0));
            let bound = format!("{bound:.decimals$}");
            format!("at least {percent} % of the limit ({} GB/s)", bound.trim_end_matches(".0"))
        }
        None => format!("at least {percent} % of the limit"),
    };
    VerdictRecord {
        case: Some(record.case.to_string()),
        node: Some(record.nodes[0].clone()),
        measured: metric.map(|metric| rate(metric.median)),
        interval: metric.and_then(|metric| metric.ci95).map(|(low, high)| (rate(low), rate(high))),
        margin_percent: metric.and_then(margin),
        reason: reason.map(str::to_owned),
        ..VerdictRecord::new(format!("memory-{kernel}"), "memory", record.subject.clone(), verdict, bound)
    }
}

pub fn document(nodes: &[&str], results: Vec<CaseRecord>) -> Document {
    let run = RunInfo {
        id: "20260921-083015-bcdf".to_owned(),
        seatrial: "0.1.0".to_owned(),
        command: vec!["seatrial".to_owned(), "run".to_owned(), "mem.bandwidth".to_owned()],
        options: Some(RunOptions::default()),
        profile: None,
        nodes: nodes.iter().map(|node| (*node).to_owned()).collect(),
        started: "2026-09-21T08:30:15Z".parse().unwrap(),
        paused_seconds: 0.0,
        ended: Some(RunEnd {
            at: "2026-09-21T08:31:04Z".parse().unwrap(),
            exit: 0,
            signal: None,
            time: None,
        }),
    };
    Document {
        schema: SCHEMA_VERSION,
        run,
        results,
        findings: Vec::new(),
        verdicts: Vec::new(),
        verdict: None,
    }
}

/// What the profile `host` wants of a loop, in percent of the limit.
fn bar(kernel: &str) -> f64 {
    if kernel == "read" { 65.0 } else { 55.0 }
}

/// Adds verdicts, the verdict over all, and the profile.
pub fn checked(mut document: Document, verdicts: Vec<VerdictRecord>) -> Document {
    document.run.profile = Some(ProfileRef {
        id: "host".to_owned(),
        title: "each machine against its own limits".to_owned(),
        file: None,
    });
    document.verdict = Verdict::roll_up(verdicts.iter().map(|record| record.verdict));
    document.verdicts = verdicts;
    document
}

/// `check` of a laptop whose limit is known: one criterion fails, one is too close to tell.
pub fn host() -> Document {
    let limit = limit_from(89.6, "2 channels x 5600 MT/s x 8 B", "dmi");
    let rows = [
        ("read", "auto", 72.14),
        ("write", "nt", 60.21),
        ("copy", "nt", 49.41),
        ("triad", "nt", 45.93),
        ("write", "regular", 33.02),
        ("copy", "regular", 40.22),
        ("triad", "regular", 41.07),
    ];
    let of_row = |(kernel, store, median): &(&str, &str, f64)| {
        let mut record = measured("n1", kernel, store, *median, &limit);
        let by_threads = by_threads(*median, &[(1, 0.52), (2, 0.84), (4, 0.98), (8, 1.0)]);
        record.series.insert("by_threads".to_owned(), by_threads);
        record
    };
    let mut results: Vec<_> = rows.iter().map(of_row).collect();
    results[0].group = "memory-read".to_owned();
    results[3].metrics.insert("bandwidth".to_owned(), metric(45.93, 3.1, limit));
    let mut cold = Finding::new(
        "did-not-converge",
        Severity::Warning,
        Subject::node(),
        "the interval is ±3.1 % after 5 trials, wider than the 2 % asked for: something else used the machine; stop it, \
         or allow more trials with -p max_trials=10",
    );
    cold.case = Some(results[3].case.to_string());
    results[3].findings.push(cold.clone());
    let pages = Finding::new("pages", Severity::Info, Subject::node(), "transparent huge pages were used");
    results[0].findings.push(pages.clone());
    results[1].findings.push(pages.clone());
    results[2].findings.push(pages);
    let verdicts = vec![
        judged(&results[0], Verdict::Pass, bar("read"), None),
        VerdictRecord {
            remedy: Some(Remedy::MORE_TRIALS),
            ..judged(
                &results[2],
                Verdict::Warn,
                55.0,
                Some("met, but too close to tell: the wanted value lies inside the 95 % interval"),
            )
        },
        judged(&results[3], Verdict::Fail, 55.0, None),
    ];
    let mut document = checked(document(&["n1"], results), verdicts);
    document.findings.push(cold);
    document.run.ended.as_mut().unwrap().exit = 1;
    document
}

/// `check` on a virtual machine: no limit, so nothing can be judged.
pub fn virtual_machine() -> Document {
    let limit = LimitRecord::unknown("a virtual machine (kvm) does not see the memory modules of its host");
    let of_row = |(kernel, store, median): (&str, &str, f64)| {
        let mut record = measured("vm-1", kernel, store, median, &limit);
        record.series.insert("by_threads".to_owned(), by_threads(median, &[(1, 0.71), (2, 0.97)]));
        record
    };
    let results: Vec<_> =
        [("read", "auto", 18.42), ("copy", "nt", 14.11), ("triad", "nt", 15.87)].map(of_row).into();
    let reason = "no limit is known for bandwidth here: a virtual machine (kvm) does not see the memory modules of its host";
    let action = "ask the provider for the peak memory bandwidth of this type of machine (its own, not that of the host), or see the data \
                  sheet; write it into a file `my.toml` as below, then run `seatrial check ./my.toml`\n  extends = [\"host\"]\n\n  [[limit]]\n  test = \
                  \"memory\"\n  metric = \"bandwidth\"\n  value = \"... GB/s\"\n  source = \"where it is known from\"";
    let verdicts = results.iter().map(|record| VerdictRecord {
        remedy: Some(Remedy::new(Actor::User, action)),
        ..judged(record, Verdict::Unknown, bar(record.params.text("kernel").unwrap()), Some(reason))
    });
    let verdicts = verdicts.collect();
    checked(document(&["vm-1"], results), verdicts)
}

/// `check` of twenty nodes with three kernels each; one node is slow, one is gone.
pub fn fleet() -> Document {
    let mut document = fleet_of(20, |number| match number {
        13 => Verdict::Fail,
        17 => Verdict::Unknown,
        _ => Verdict::Pass,
    });
    let mut culprit = Finding::new(
        "outlier",
        Severity::Problem,
        Subject::node(),
        "all kernels are 39 % under the median of the 19 nodes measured: compare its DIMMs with those of n12",
    );
    culprit.node = Some("n13".to_owned());
    document.findings.push(culprit);
    document
}

/// `check` of `count` nodes with three kernels each; nodes that fail are slow, the more the higher their number;
/// unknown nodes are gone.
pub fn fleet_of(count: usize, verdict: impl Fn(usize) -> Verdict) -> Document {
    let width = count.to_string().len();
    let names: Vec<String> = (1..=count).map(|number| format!("n{number:0width$}")).collect();
    let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
    let limit = limit(307.2);
    let mut results = Vec::new();
    let mut verdicts = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let verdict = verdict(position + 1);
        for (kernel, median) in [("read", 236.4), ("copy", 214.2), ("triad", 218.9)] {
            // A small spread that is the same in every run of the test.
            let drift = 1.0 + ((position * 7 + kernel.len()) % 11) as f64 / 1000.0;
            let slow = if verdict == Verdict::Fail { 0.61 - (position / 20) as f64 / 500.0 } else { 1.0 };
            let record = if verdict == Verdict::Unknown {
                let why = format!("{node} not reachable: No route to host (ssh, port 22)");
                without_numbers(node, kernel, Cause::NeverReached, &why)
            } else {
                measured(node, kernel, "nt", median * drift * slow, &limit)
            };
            verdicts.push(judged(&record, verdict, bar(kernel), record.reason.as_deref()));
            results.push(record);
        }
    }
    checked(document(&nodes, results), verdicts)
}

/// `check` of 64 nodes, of which two are slow and one is gone.
pub fn fleet_with_three_bad_nodes() -> Document {
    fleet_of(64, |number| match number {
        13 | 41 => Verdict::Fail,
        57 => Verdict::Unknown,
        _ => Verdict::Pass,
    })
}

/// `run` of pairs in which one node vanished and its partner was measured again.
pub fn lost_partner() -> Document {
    let limit = LimitRecord::unknown("no part of the way states how long it takes");
    let pair = |one: &str, other: &str| {
        let mut record = measured(one, "copy", "nt", 214.2, &limit);
        record.nodes.push(other.to_owned());
        record.subject = format!("{one}->{other}").parse().unwrap();
        let Ok(id) = format!("net.rr@{one}+{other}/{one}->{other}").parse();
        (record.case, record.bench, record.group) = (id, "net.rr".to_owned(), "net.rr".to_owned());
        record.params = Params::default();
        record.series.clear();
        record
    };
    let mut lost = pair("n1", "n2");
    lost.metrics.clear();
    (lost.outcome, lost.cause) = (Outcome::Failed, Some(Cause::Vanished));
    lost.reason = Some("the agent of server 1 on n2 was lost: its connection ended".to_owned());
    lost.lost = vec!["n2".to_owned()];
    let mut again = pair("n1", "n3");
    again.retry_of = Some(lost.case.clone());
    let records = vec![lost, pair("n3", "n4"), again];
    let mut document = document(&["n1", "n2", "n3", "n4"], records);
    let mut culprit = Finding::new(
        "culprit",
        Severity::Problem,
        Subject::node(),
        "n2 vanished during a measurement: the agent of server 1 on n2 was lost: its connection ended; check its power, \
         its kernel log and its links before it is used again",
    );
    culprit.node = Some("n2".to_owned());
    culprit.case = Some(document.results[0].case.to_string());
    document.findings.push(culprit);
    document
}

/// `run` with every outcome of a case.
pub fn mixed() -> Document {
    let limit = LimitRecord::unknown(NO_LIMIT);
    let crash = "worker 3 ended by SIGBUS in phase measure; the kernel log says: Memory failure: 0x1a2b3c: recovery \
                 action for dirty LRU page: Recovered";
    let mut stopped = document(
        &["n1"],
        vec![
            measured("n1", "copy", "nt", 14.11, &limit),
            without_numbers("n1", "scale", Cause::Crash, crash),
            without_numbers(
                "n1",
                "add",
                Cause::Denied,
                "binding memory: Operation not permitted (os error 1)",
            ),
            without_numbers(
                "n1",
                "triad",
                Cause::Interrupted,
                "the run was stopped by SIGINT before the case began",
            ),
            without_numbers("n1", "memcpy", Cause::Inapplicable, "the C library exports no memcpy"),
        ],
    );
    stopped.run.ended.as_mut().unwrap().signal = Some("SIGINT".to_owned());
    stopped
}

/// `run` of the node x node matrix on a machine with four NUMA nodes.
pub fn matrix() -> Document {
    let mut record = case("n1", "triad", "nt");
    record.params.set("scope", "matrix");
    let limit = limit(153.6);
    record.metrics.insert("local".to_owned(), metric(104.2, 0.3, limit.clone()));
    record.metrics.insert("remote".to_owned(), metric(41.7, 0.9, limit));
    let rows = (0..4_u64).flat_map(|cpu| (0..4_u64).map(move |memory| (cpu, memory)));
    let rows = rows
        .map(|(cpu, memory)| {
            let pairs = [("cpu_node", cpu), ("memory_node", memory)];
            let at = pairs.into_iter().map(|(name, value)| (name.to_owned(), Value::Count(value))).collect();
            let hops = if cpu == memory {
                1.0
            } else if cpu / 2 == memory / 2 {
                0.71
            } else {
                0.4
            };
            SeriesRow { at, summary: summary(104.2 * hops + (cpu + memory) as f64 / 10.0, 0.3) }
        })
        .collect();
    let axes = vec![("cpu_node", Unit::Count), ("memory_node", Unit::Count)];
    record.series.insert("matrix".to_owned(), series(axes, rows));
    document(&["n1"], vec![record])
}

/// `run` of two pairs, one of them behind a shaper of 200 Mbit/s, which is the limit of both rates.
pub fn shaped() -> Document {
    let limit = |value: f64| LimitRecord {
        nominal: None,
        value: Some(value),
        formula: Some("200 Mbit/s x 1448 / 1514".to_owned()),
        provenance: Some("qdisc tbf".to_owned()),
        reason: None,
        chain: Vec::new(),
    };
    let pair = |one: &str, other: &str, throughput: f64, slowest: f64| {
        let mut record = case(one, "copy", "nt");
        record.nodes.push(other.to_owned());
        record.subject = format!("{one}->{other}").parse().unwrap();
        let Ok(id) = format!("net.tcp_stream@{one}+{other}/{one}->{other}").parse();
        (record.case, record.bench, record.group) =
            (id, "net.tcp_stream".to_owned(), "net.tcp_stream".to_owned());
        record.params = Params::default();
        for (name, value) in [("throughput", throughput), ("slowest", slowest)] {
            let found = MetricRecord { unit: Unit::GigabitsPerSecond, ..metric(value, 0.4, limit(0.199)) };
            record.metrics.insert(name.to_owned(), found);
        }
        record
    };
    document(&["n1", "n3", "n4"], vec![pair("n3", "n4", 0.155, 0.125), pair("n1", "n3", 0.16, 0.13)])
}

/// `check` of four nodes that meets all criteria, of their memory and of their interfaces.
pub fn accepted() -> Document {
    let limit = limit(307.2);
    let names = ["n1", "n2", "n3", "n4"];
    let results: Vec<_> = names
        .iter()
        .map(|name| measured(name, "copy", "nt", if *name == "n2" { 200.0 } else { 214.2 }, &limit))
        .collect();
    let mut verdicts: Vec<_> =
        results.iter().map(|record| judged(record, Verdict::Pass, 55.0, None)).collect();
    verdicts.extend(names.iter().map(|name| VerdictRecord {
        node: Some((*name).to_owned()),
        measured: Quantity::new(9000.0, Unit::Count).ok(),
        ..VerdictRecord::new("nic.mtu", "", Subject::device("nic", "eth0"), Verdict::Pass, "exactly 9000")
    }));
    checked(document(&names, results), verdicts)
}

/// `run` of four nodes that all have numbers, of which one is slow with its partners.
pub fn with_slow_node() -> Document {
    let names = ["n1", "n2", "n3", "n4"];
    let limit = limit(307.2);
    let results = names.iter().map(|name| measured(name, "copy", "nt", 214.2, &limit)).collect();
    let mut document = document(&names, results);
    let text = "n3 is slow with its partners";
    let mut slow = Finding::new("slow-node", Severity::Problem, Subject::node(), text);
    slow.node = Some("n3".to_owned());
    document.findings.push(slow);
    document
}

/// `check` of a node with two GPUs, of which the second copies from and to the host too slowly.
pub fn two_gpus() -> Document {
    gpus(2)
}

/// The same with `count` GPUs.
pub fn gpus(count: usize) -> Document {
    let link = limit_from(
        58.4,
        "63.015 GB/s x 256 / (256 + 20) B of a packet at most",
        "pcie packets, configuration space",
    );
    let memory = limit_from(3939.0, "2619 MHz x 2 transfers x 6016 bit / 8", "nvml");
    let mut results = Vec::new();
    let mut verdicts = Vec::new();
    for gpu in 0..count {
        let (h2d, d2h) = if gpu == 1 { (27.7, 27.9) } else { (55.4, 55.8) };
        let copies = on_gpu("gpu.host_copy", gpu, &[("h2d", h2d), ("d2h", d2h)], &link);
        let kernels =
            [("copy", 3471.0), ("read", 3642.0), ("write", 3537.0), ("triad", 3518.0), ("memcpy", 3322.0)];
        let own = on_gpu("gpu.memory", gpu, &kernels, &memory);
        for (record, criterion, name, percent) in [
            (&copies, "gpu-host-to-device", "h2d", 65.0),
            (&copies, "gpu-device-to-host", "d2h", 65.0),
            (&own, "gpu-memory-copy", "copy", 70.0),
        ] {
            let mut of_metric = record.clone();
            of_metric.metrics.insert("bandwidth".to_owned(), record.metrics[name].clone());
            let is_slow = record.metrics[name].percent_of_limit().is_some_and(|share| share < percent);
            let verdict =
                judged(&of_metric, if is_slow { Verdict::Fail } else { Verdict::Pass }, percent, None);
            verdicts.push(VerdictRecord { criterion: criterion.to_owned(), ..verdict });
        }
        results.extend([copies, own]);
    }
    results.push(peer_copy());
    checked(document(&["g1"], results), verdicts)
}

/// A case of `bench` on a GPU with the medians of metrics.
fn on_gpu(bench: &str, gpu: usize, metrics: &[(&str, f64)], limit: &LimitRecord) -> CaseRecord {
    let mut record = case("g1", "auto", "nt");
    let subject = Subject::device("gpu", &gpu.to_string());
    let Ok(id) = format!("{bench}@g1/{subject}").parse();
    (record.case, record.bench, record.group, record.subject) =
        (id, bench.to_owned(), bench.to_owned(), subject);
    record.key = Some(format!("pci:000{gpu}:41:00.0"));
    (record.params, record.chosen) = (params(&[("kernel", "auto"), ("gpu", "auto")]), Params::default());
    for (name, median) in metrics {
        record.metrics.insert((*name).to_owned(), metric(*median, 0.4, limit.clone()));
    }
    record
}

/// Copies between two GPUs, which nothing judges.
fn peer_copy() -> CaseRecord {
    let link = limit_from(300.0, "12 active NVLinks x 25000 MB/s", "nvml");
    let mut record = case("g1", "copy", "nt");
    let Ok(id) = "gpu.peer_copy@g1/node".parse();
    (record.case, record.bench, record.group) = (id, "gpu.peer_copy".to_owned(), "peer-copy".to_owned());
    (record.params, record.chosen) = (Params::default(), Params::default());
    for (name, value) in [("write", 268.4), ("read", 261.7)] {
        record.metrics.insert(name.to_owned(), metric(value, 0.4, link.clone()));
    }
    let pairs =
        [("write", 0, 1, 268.4), ("write", 1, 0, 269.1), ("read", 0, 1, 262.2), ("read", 1, 0, 261.7)];
    let row = |(operation, from, to, median): (&str, u64, u64, f64)| {
        let mut at = params(&[("operation", operation)]);
        at.set("from", from);
        at.set("to", to);
        SeriesRow { at, summary: summary(median, 0.4) }
    };
    let axes = vec![("operation", Unit::Count), ("from", Unit::Count), ("to", Unit::Count)];
    record.series.insert("pairs".to_owned(), series(axes, pairs.map(row).into()));
    record
}
