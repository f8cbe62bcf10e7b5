//! The content of the page, without a browser.

use seatrial_model::profile::{
    Profile, SourceCell, SourceResult, SourceRow, SourceSelection, SourceTable, SourceValue, Statistic, Test,
};
use seatrial_model::record::Document;
use seatrial_model::{Cause, Params, PartRecord, Quantity, Unit, Verdict};
use seatrial_report::Earlier;
use seatrial_report::html::PageContext;

use super::scripted::{self, HOSTILE};
use super::{compared, fixture, page_in, page_of, site};

pub fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let from = page.find(start).unwrap_or_else(|| panic!("no {start:?}"));
    let rest = &page[from..];
    &rest[..rest.find(end).unwrap_or_else(|| panic!("no {end:?} behind {start:?}"))]
}

#[test]
fn sections_come_in_the_order_that_a_person_needs_them() {
    let page = page_of(&scripted::pairs(5));
    let ids =
        ["<h1>", "class=\"answers\"", "id=\"act\"", "id=\"parts\"", "id=\"benchmarks\"", "id=\"pairs\""];
    let ids = ids.iter().chain(&["id=\"settings\"", "id=\"findings\"", "id=\"nodes\"", "id=\"inventory\""]);
    let places: Vec<usize> = ids.map(|id| page.find(id).unwrap_or_else(|| panic!("no {id}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
}

/// A check of a machine without a GPU, whose profile wants one.
fn without_gpu() -> Document {
    let mut document = fixture::host();
    let mut gpu = fixture::without_numbers("n1", "read", Cause::Inapplicable, "libcuda.so.1 was not found");
    let Ok(id) = "gpu.memory@n1/gpu:0[kernel=read]".parse();
    (gpu.case, gpu.bench) = (id, "gpu.memory".to_owned());
    let mut skipped = fixture::judged(&gpu, Verdict::Skip, 80.0, gpu.reason.as_deref());
    skipped.criterion = "gpu-memory".to_owned();
    document.results.insert(0, gpu);
    document.verdicts.push(skipped);
    document
}

#[test]
fn what_the_machine_does_not_have_is_told_in_one_line_at_the_end() {
    let page = page_of(&without_gpu());
    let line = between(&page, "<p id=\"not-here\"", "</p>");
    assert!(line.contains("not here: gpu.memory"), "{line}");
    let end = page.find("id=\"not-here\"").expect("the line");
    assert!(page.find("id=\"inventory\"").is_some_and(|place| place < end));
    // No section, no case, no row of the parts and no criterion tells of it.
    for id in ["id=\"benchmarks\"", "id=\"parts\"", "id=\"criteria\""] {
        let section = between(&page, id, "id=\"settings\"");
        let section = section.split("</main>").next().expect("a section");
        assert!(!section.contains("gpu"), "{id}");
    }
    assert!(!page_of(&fixture::host()).contains("id=\"not-here\""));
}

#[test]
fn parts_are_those_of_the_terminal_with_a_bar_of_their_share_of_the_limit() {
    let page = page_of(&fixture::two_gpus());
    let parts = between(&page, "id=\"parts\"", "</section>");
    let slow = parts.split("<tr").find(|row| row.contains("27.7 GB/s")).expect("the slow copy");
    for told in ["GPU 1", "58.4 GB/s", "47%", "bar fail", "width:47.4%", "href=\"#case-3\""] {
        assert!(slow.contains(told), "no {told} in {slow}");
    }
    // A sweep is one row, with its worst.
    let sweep = page_of(&scripted::sweep());
    assert_eq!(
        between(&sweep, "id=\"parts\"", "</section>").matches("<tr").count(),
        2,
        "its head and one row"
    );
    // Benchmarks come by what they measure.
    let families: Vec<&str> = page.split("<h3 class=\"family\">").skip(1).collect();
    assert_eq!(families.len(), 1);
    assert!(families[0].starts_with("GPUs<") && families[0].contains(">gpu.host_copy"));
}

/// The answers of a page.
fn answers(document: &Document) -> String {
    let abouts = fixture::abouts();
    let page = page_in(document, &PageContext { abouts: &abouts, ..PageContext::default() });
    between(&page, "class=\"answers\"", "</dl>").to_owned()
}

#[test]
fn the_first_lines_answer_what_to_do_and_what_was_wanted() {
    let laptop = answers(&fixture::host());
    for told in [
        "memory-triad is 45.9 GB/s ±3.1%, 7 % below the wanted 49.3 GB/s (55 % of the limit).",
        "<strong>do (user):</strong> stop other programs and measure again",
        "<code>seatrial run mem.bandwidth -p kernel=triad -p store=nt</code>",
        "list of checks</span> <code>seatrial list mem.bandwidth</code>",
        "host – each machine against its own limits: 3 criteria. Worst: memory-triad, 45.9 GB/s (-7%); \
         ≥ 55% of limit (49.3 GB/s) wanted<",
        // The warning is one of the things to act on, and no step.
        "<a href=\"#act\">1 warning: memory-copy</a>",
    ] {
        assert!(laptop.contains(told), "no {told} in {laptop}");
    }
    assert!(!laptop.contains("<dt>before</dt>"), "there is no earlier run");
    assert!(!laptop.contains("<dt>nodes</dt>"), "there is one node");
    let gpus = answers(&fixture::two_gpus());
    assert!(gpus.contains("</span> gpu-host-to-device on GPU 1 (PCI 0001:41:00.0) is 27.7 GB/s"), "{gpus}");
    let accepted = answers(&fixture::accepted());
    assert!(accepted.contains("nothing failed and nothing is unknown</dd>"), "{accepted}");
    assert!(accepted.contains("<dd>all 4 nodes may be used</dd>"), "{accepted}");
    let bare = answers(&scripted::pairs(3));
    assert!(bare.contains("nothing, as the run has no profile"), "{bare}");
}

#[test]
fn the_page_of_a_fleet_says_which_nodes_may_be_used_and_all_that_the_others_miss() {
    let document = fixture::fleet();
    let page = page_of(&document);
    let title = between(&page, "<h1>", "</h1>");
    assert!(title.contains("not accepted: n13 fails (memory), n17 was not reached"), "{title}");
    let fleet = answers(&document);
    for told in [
        "<dd>18 of 20 nodes may be used: n[01-12,14-16,18-20]</dd>",
        "3 criteria. Worst: memory-read on n13, 144 GB/s (-28%); ≥ 65% of limit (199.7 GB/s) wanted<",
        "Also memory-copy (131 GB/s), memory-triad (134 GB/s).",
        "-w n13</code>",
    ] {
        assert!(fleet.contains(told), "no {told} in {fleet}");
    }
}

#[test]
fn the_answers_name_the_hardware_by_its_kinds() {
    let document = scripted::fleet(200, 1);
    let nodes = site::nodes(&site::site(&document.run.nodes));
    let page = page_in(&document, &PageContext { nodes: &nodes, ..PageContext::default() });
    let answers = between(&page, "class=\"answers\"", "</dl>");
    assert!(answers.contains("<dt>hardware</dt><dd>200 × A processor of 64 cores<"), "{answers}");
}

#[test]
fn the_answers_hold_the_run_against_the_one_before() {
    let (before, after) = (compared::baseline(), compared::candidate());
    let comparison = compared::between(&before, &after);
    let earlier = Earlier {
        run: &before.run,
        comparison: &comparison,
        page: Some("../20260921-083015-bcdf/report.html"),
    };
    let page = page_in(&after, &PageContext { earlier: Some(earlier), ..PageContext::default() });
    let line = between(&page, "<dt>before</dt>", "</dd>");
    for told in [
        "against run 20260921-083015-bcdf of 2026-09-21 08:30 UTC: mem.bandwidth",
        "triad",
        "-40%",
        "1 worse, 1 better",
        "seatrial compare 20260921-083015-bcdf 20260922-114502-ghjk --html compare.html",
        "href=\"../20260921-083015-bcdf/report.html\"",
    ] {
        assert!(line.contains(told), "no {told} in {line}");
    }
}

/// The plots of the benchmark `name`.
fn figures<'a>(page: &'a str, name: &str) -> &'a str {
    let from = page.find(&format!("-h\">{name}")).unwrap_or_else(|| panic!("no {name}"));
    between(&page[from..], "<div class=\"figures\">", "<table")
}

#[test]
fn one_case_shows_its_samples_and_its_series_with_limit_and_bound() {
    let page = page_of(&scripted::alone());
    let drawn = figures(&page, "mem.bandwidth");
    let samples = between(drawn, "bandwidth, every sample", "</figure>");
    // A dot per sample, and the median of each of three trials.
    assert_eq!(between(samples, "class=\"dots\"", "</g>").matches('M').count(), 12);
    assert_eq!(samples.matches("class=\"dots\"").count(), 3);
    assert!(samples.contains("trial 2: 12 samples, median 133 GB/s"), "{samples}");
    assert!(samples.contains(">limit 307 GB/s<") && samples.contains(">at least 169 GB/s<"), "{samples}");
    let series = between(drawn, "by_threads over threads", "</figure>");
    assert!(series.contains(">limit 307 GB/s<") && series.contains(">at least 169 GB/s<"), "{series}");
    // They are drawn once, and not again where the case is shown in full.
    assert_eq!(page.matches("every sample</").count() + page.matches("every sample <").count(), 1);
}

#[test]
fn a_page_of_one_node_has_no_filter_by_node() {
    let filter = |document: &Document| between(&page_of(document), "<form", "</form>").to_owned();
    assert!(filter(&fixture::fleet()).contains("name=\"node\""));
    let one = filter(&fixture::host());
    assert!(
        !one.contains("name=\"node\"") && one.contains("name=\"verdict\"") && one.contains("name=\"theme\""),
        "{one}"
    );
    let bare = filter(&scripted::ladder());
    assert!(!bare.contains("Show all") && bare.contains("name=\"theme\""), "{bare}");
}

#[test]
fn a_ladder_of_sizes_is_a_curve_over_a_logarithmic_axis() {
    let page = page_of(&scripted::ladder());
    let drawn = figures(&page, "mem.latency");
    let ladder = between(drawn, "ladder over size", "</figure>");
    for size in [">32 KiB<", ">2 MiB<", "size 64 KiB: 3.60 ns"] {
        assert!(ladder.contains(size), "no {size} in {ladder}");
    }
    assert_eq!(ladder.matches("<g class=\"pt\"").count(), 14, "{ladder}");
}

#[test]
fn a_loaded_latency_is_a_curve_over_the_bandwidth_reached() {
    let page = page_of(&scripted::loaded());
    let drawn = figures(&page, "mem.loaded_latency");
    let curve = between(drawn, "curve over delivered", "</figure>");
    assert!(curve.contains("load 40: ") && curve.contains(" at 92.0 GB/s"), "{curve}");
    assert!(curve.contains("fill=\"var(--limit)\">limit 307 GB/s<"), "{curve}");
    assert_eq!(curve.matches("<g class=\"pt\"").count(), 6);
    assert!(drawn.contains("<figcaption>delivered over load"), "each series by itself too");
}

#[test]
fn a_ping_pong_has_the_graphs_of_netpipe() {
    let page = page_of(&scripted::pingpong());
    let drawn = figures(&page, "net.pingpong");
    let signature = between(drawn, "<figcaption>by_size over time_by_size", "</figure>");
    assert!(signature.contains("signature graph") && signature.contains("us<"), "{signature}");
    assert!(signature.contains("size 1 MiB: ") && signature.contains("Gbit/s at "), "{signature}");
    let places: Vec<f64> = signature
        .split("<rect x=\"")
        .skip(1)
        .filter_map(|piece| piece.split('"').next()?.parse().ok())
        .collect();
    // From 20 us to 14 ms, where most sizes would lie upon each other on a linear axis.
    let [.., before, last] = places[..] else { panic!("{signature}") };
    assert!(last - before < 0.6 * (last - places[0]), "{places:?}");
    assert!(drawn.contains("<figcaption>time_by_size over size"), "the saturation graph");
    let by_size = between(drawn, "<figcaption>by_size over size", "</figure>");
    assert!(
        by_size.contains(">0.001<"),
        "a logarithmic axis has a label of its own at each power: {by_size}"
    );
}

#[test]
fn axes_of_rates_start_at_zero() {
    // All values are far from zero.
    for (page, caption) in [
        (page_of(&scripted::pairs(4)), "<figcaption>throughput"),
        (page_of(&scripted::alone()), "<figcaption>bandwidth, every sample"),
        (page_of(&scripted::alone()), "<figcaption>by_threads over threads"),
    ] {
        let figure = between(&page, caption, "</figure>");
        let ticks: Vec<f64> =
            figure.split("</text>").filter_map(|piece| piece.rsplit('>').next()?.parse().ok()).collect();
        assert!(ticks.contains(&0.0), "{caption}: {ticks:?}");
        assert!(ticks.iter().all(|tick| *tick >= 0.0), "{caption}: {ticks:?}");
    }
}

#[test]
fn the_worst_is_said_first_in_a_sentence_with_its_margin() {
    let page = page_of(&fixture::host());
    let act = between(&page, "id=\"act\"", "</section>");
    let first = between(act, "<li", "</li>");
    assert!(
        first
            .contains("memory-triad is 45.9 GB/s ±3.1%, 7 % below the wanted 49.3 GB/s (55 % of the limit)."),
        "{first}"
    );
    assert!(act.find("fail").expect("a fail") < act.find("too close to tell").expect("a warning"));
    assert!(
        between(&page, "<h1>", "</h1>")
            .contains("not accepted: memory fails (1 of 3 criteria not met: memory-triad")
    );
}

#[test]
fn what_is_said_of_many_nodes_is_said_once_of_the_worst() {
    let page = page_of(&scripted::fleet(100, 1));
    let act = between(&page, "id=\"act\"", "</section>");
    assert_eq!(act.matches("<li").count(), 1, "{act}");
    assert!(act.contains("at worst (node"), "{act}");
}

#[test]
fn names_from_outside_stay_text() {
    let page = page_of(&scripted::hostile());
    assert_eq!(page.matches("<script").count(), 1, "only our own script");
    assert_eq!(page.matches("<style").count(), 1, "only our own style");
    for tag in ["<img", "<svg onload", "<b>out", "<script>document"] {
        assert!(!page.contains(tag), "{tag}");
    }
    // Each text is there, escaped.
    assert!(page.contains("&#60;script&#62;document.title") || page.contains("&lt;script&gt;document.title"));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
    assert_eq!(HOSTILE.len(), page.matches("<section id=\"bench-").count());
}

#[test]
fn every_address_is_on_the_page_or_carried_by_it() {
    for document in [fixture::host(), scripted::hostile(), scripted::pairs(4)] {
        let page = page_of(&document);
        for piece in page.split("href=\"").skip(1) {
            assert!(
                piece.starts_with('#') || piece.starts_with("data:"),
                "{}",
                &piece[..40.min(piece.len())]
            );
        }
        for tag in ["<img", "<link rel=\"stylesheet", "<iframe", "<object", "<script src", "url(", "@import"]
        {
            assert!(!page.contains(tag), "{tag}");
        }
        let links: Vec<&str> =
            page.split("href=\"#").skip(1).filter_map(|piece| piece.split('"').next()).collect();
        for link in links {
            assert!(page.contains(&format!("id=\"{link}\"")), "{link} leads nowhere");
        }
    }
}

#[test]
fn everything_is_open_before_the_script_folds_it() {
    let page = page_of(&scripted::sweep());
    assert_eq!(page.matches("<details").count(), page.matches("<details class=").count());
    let closed = page
        .split("<details")
        .skip(1)
        .filter(|piece| !piece.split('>').next().is_some_and(|tag| tag.contains(" open")));
    assert_eq!(closed.count(), 0);
    // Without a script there are no filters and no tooltips.
    let hidden: Vec<&str> = page
        .split(" hidden>")
        .collect::<Vec<_>>()
        .iter()
        .rev()
        .skip(1)
        .filter_map(|piece| piece.rsplit('<').next())
        .collect();
    assert!(
        hidden.iter().all(|tag| tag.starts_with("form") || tag.starts_with("div id=\"tip\"")),
        "{hidden:?}"
    );
}

#[test]
fn a_limit_is_drawn_in_and_its_waterfall_names_the_largest_loss() {
    let page = page_of(&scripted::pairs(4));
    assert!(
        page.contains("The largest loss is 26.0 Gbit/s (21%), between pcie link and nic speed."),
        "no waterfall"
    );
    assert!(page.contains("100 Gbit/s x 8928 / 9042"));
    assert!(page.contains("stroke=\"var(--limit)\""), "no limit in a plot");
    assert!(page.contains("seatrial run net.tcp_stream -p flows=4 -w &#39;n[1-2]&#39;"), "no command");
}

#[test]
fn sweeps_mark_their_knee_and_what_failed() {
    let page = page_of(&scripted::sweep());
    let figure = between(&page, "throughput over threads", "</figure>");
    assert!(figure.contains(">knee 8<"), "{figure}");
    assert_eq!(figure.matches("failed hang").count(), 2, "{figure}");
    assert!(figure.contains("fill-opacity=\"0.16\""), "no bands");
    let table = between(&page, "<caption>storage.file · node of n1 · throughput over threads", "</table>");
    assert_eq!(table.matches("failed</span>").count(), 2, "{table}");
}

#[test]
fn what_many_cases_say_in_the_same_words_is_said_once() {
    let page = page_of(&scripted::ncsa("Tungsten"));
    let act = between(&page, "id=\"act\"", "</section>");
    assert_eq!(act.matches("<li").count(), 1, "{act}");
    assert!(act.contains("33 cases of storage.file did not deliver: nothing moved for 20 s"), "{act}");
}

#[test]
fn curves_beyond_the_sixth_are_told_apart_by_their_line() {
    let page = page_of(&fixture::host());
    let figure = between(&page, "by_threads over threads", "</figure>");
    let (plot, legend) = figure.split_once("<ul class=\"legend\">").expect("a legend");
    assert_eq!(legend.matches("<li>").count(), 7);
    let dashed = "dasharray=\"4 3\"";
    assert_eq!((plot.matches(dashed).count(), legend.matches(dashed).count()), (1, 1), "{figure}");
}

#[test]
fn latencies_are_curves_of_all_that_the_parts_counted() {
    let document = scripted::latencies();
    let page = page_of(&document);
    assert!(page.contains("Drawn through the percentiles in the record."));
    let counted =
        serde_json::json!({ "buckets": [[11_200, 9_000], [14_900, 990], [210_000, 10]], "max_ns": 210_000 });
    let part = serde_json::json!({ "part": "client", "index": 0, "node": "n1", "trial": 0, "samples": [],
        "integrity": { "unverified": { "why": "nothing is sent twice" } }, "evidence": { "round_trips": counted } });
    let part: PartRecord = serde_json::from_value(part).expect("a record");
    let context = PageContext { parts: &|_| vec![part.clone()], ..PageContext::default() };
    let page = page_in(&document, &context);
    assert!(page.contains("99.9 % took no longer than 14.9 us"), "the tail is not drawn");
}

#[test]
fn the_samples_of_a_case_travel_with_the_page() {
    let page = page_of(&scripted::pairs(3));
    let link = between(&page, "<a download=\"case-1-samples.csv\"", "</a>");
    assert!(
        link.contains("data:text/csv;charset=utf-8,metric,unit,trial,sample,value%0Athroughput,Gbit/s,0,0,"),
        "{link}"
    );
    assert_eq!(link.matches("%0Athroughput").count(), 36);
}

#[test]
fn a_thousand_nodes_with_twenty_metrics_stay_below_5_mb() {
    let document = scripted::fleet(1000, 20);
    let page = page_of(&document);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    // Every node has its row, and those that fail come first.
    let nodes = between(&page, "id=\"nodes\"", "</section>");
    assert_eq!(nodes.matches("<tr data-n=").count(), 1000);
    assert!(page.matches("<details class=\"case\"").count() >= 40);
    assert_eq!(page.matches("class=\"rug\"").count(), 20, "a row a metric");
}

#[test]
fn the_machines_and_settings_of_a_thousand_nodes_are_folded() {
    let document = scripted::fleet(1000, 1);
    let site = site::site(&document.run.nodes);
    let (nodes, settings) = (site::nodes(&site), site::audited(&site));
    assert_eq!(settings.len(), 60_000);
    let page =
        page_in(&document, &PageContext { nodes: &nodes, settings: &settings, ..PageContext::default() });
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    // All are equal but for ten that lack a module.
    let inventory = between(&page, "id=\"inventory\"", "</section>");
    assert_eq!(inventory.matches("<details class=\"kind\"").count(), 2);
    let first = between(inventory, "<summary>", "</summary>");
    assert!(first.contains("0042-0140"), "the most frequent kind comes first: {first}");
    // The setting that differs from the demand on twenty nodes comes before the one that differs between nodes.
    let settings = between(&page, "id=\"settings\"", "</section>");
    let rows: Vec<&str> = settings.split("<tr").skip(2).collect();
    assert!(rows[0].contains("kernel.setting_01") && rows[1].contains("kernel.setting_01"), "{}", rows[0]);
    assert!(rows[0].contains("off") && rows.len() == 200, "{}: {}", rows.len(), rows[0]);
    assert!(settings.contains("58 more are the same on every node and as wanted"), "{settings}");
    assert!(settings.contains("802 rows left out here"), "{settings}");
}

#[test]
fn a_run_that_did_not_end_says_so_and_how_to_go_on() {
    let mut document = fixture::host();
    (document.verdict, document.verdicts) = (None, Vec::new());
    let notice = |document: &Document, context: &PageContext<'_>| {
        let page = page_in(document, context);
        assert!(between(&page, "<h1>", "</h1>").contains("unfinished"));
        between(&page, "<p class=\"notice\">", "</p>").to_owned()
    };
    document.run.ended = None;
    let planned = PageContext { planned: Some(12), ..PageContext::default() };
    let killed = notice(&document, &planned);
    assert!(killed.contains("recorded no end") && killed.contains("7 of 12 planned cases"), "{killed}");
    assert!(killed.contains("seatrial check --resume 20260921-083015-bcdf"), "{killed}");
    let running = notice(&document, &PageContext { is_running: true, ..planned });
    assert!(running.contains("has not ended yet") && !running.contains("--resume"), "{running}");
    // A run that was stopped before it began has no result.
    let stopped = notice(&fixture::mixed(), &PageContext { planned: Some(5), ..PageContext::default() });
    assert!(stopped.contains("stopped by SIGINT") && stopped.contains("4 of 5 planned cases"), "{stopped}");
    assert!(stopped.contains("seatrial run --resume"), "{stopped}");
    assert!(!page_of(&fixture::host()).contains("class=\"notice\""));
}

#[test]
fn a_run_without_anything_is_a_page() {
    let page = page_of(&fixture::document(&[], Vec::new()));
    assert!(between(&page, "<h1>", "</h1>").contains("nothing was measured"));
    let page = page_of(&fixture::mixed());
    assert!(page.contains("worker 3 ended by SIGBUS"));
    // Of a benchmark that ran, what does not apply is a note.
    assert_eq!(page.matches("1 case skipped: the C library exports no memcpy").count(), 1);
}

#[test]
fn every_criterion_has_a_row_with_bound_and_value_settings_too() {
    let page = page_of(&fixture::accepted());
    let rows = between(&page, "id=\"criteria\"", "</section>");
    let row = |criterion: &str| {
        let from = &rows[rows.find(criterion).unwrap_or_else(|| panic!("no {criterion} in {rows}"))..];
        from[..from.find("</tr>").expect("a row")].to_owned()
    };
    for (criterion, told) in [
        ("nic.mtu", ["= 9000", "4 of 4 <span class=\"faint\">places", "all", "9000"]),
        ("memory-copy", ["55% of limit", "4 of 4 <span class=\"faint\">nodes", "n2", "+18%"]),
    ] {
        for word in told {
            assert!(row(criterion).contains(word), "no {word} in {}", row(criterion));
        }
    }
}

/// A profile of which the document prints two numbers of [`fixture::host`] and one that nothing measures.
fn with_source_table() -> Profile {
    let selection = |kernel: &str| SourceSelection {
        test: "memory".to_owned(),
        metric: "bandwidth".to_owned(),
        cases: fixture::params(&[("kernel", kernel), ("store", "nt")]),
        at: Params::default(),
        on: Params::default(),
        roles: Vec::new(),
        step: None,
        class: None,
        of: Statistic::Median,
    };
    let row = |name: &str, result: SourceResult| {
        let value = SourceValue::Quantity(Quantity::new(400.0, Unit::GigabitsPerSecond).expect("a rate"));
        SourceRow { name: name.to_owned(), cells: vec![Some(SourceCell { value, factor: 1.0, result })] }
    };
    let table = SourceTable {
        id: "page".to_owned(),
        title: "memory <of the page>".to_owned(),
        source: "the page, part 2".to_owned(),
        corner: String::new(),
        columns: vec![String::new()],
        rows: vec![
            row("triad", SourceResult::Selection(selection("triad"))),
            row("scale", SourceResult::NotMeasured("no such kernel".to_owned())),
        ],
    };
    let test = Test { id: "memory".to_owned(), bench: "mem.bandwidth".to_owned(), ..Test::default() };
    Profile { tests: vec![test], source_tables: vec![table], ..Profile::default() }
}

#[test]
fn the_tables_of_the_document_stand_on_the_page_of_a_profile_that_has_some() {
    let profile = with_source_table();
    let document = fixture::host();
    let page = page_in(&document, &PageContext { profile: Some(&profile), ..PageContext::default() });
    let section = between(&page, "id=\"source-tables\"", "</section>");
    assert!(
        section.contains("memory &#60;of the page&#62;") && section.contains("the page, part 2"),
        "{section}"
    );
    let row = |name: &str| section.split("<tr").find(|row| row.contains(name)).expect("a row").to_owned();
    let triad = document
        .results
        .iter()
        .find(|case| case.params.text("kernel") == Ok("triad") && case.params.text("store") == Ok("nt"));
    let ours = triad.and_then(|case| case.metrics.get("bandwidth")).expect("a number").median * 8.0;
    assert!(
        row("triad").contains(&format!("{ours:.0}")) && row("triad").contains(">400<"),
        "{}",
        row("triad")
    );
    assert!(row("triad").contains(&format!("{:.2}", ours / 400.0)), "{}", row("triad"));
    assert!(row("scale").contains("not measured"), "{}", row("scale"));
    assert!(section.contains("no such kernel"), "{section}");
    assert!(page.contains("href=\"#source-tables\""));
    assert!(!page_of(&document).contains("source-tables"), "a profile without tables has no section");
}
