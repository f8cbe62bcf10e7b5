//! What the first lines say of who is at fault, of sound nodes beside one at fault, and of what follows from a cause.

use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Actor, Cause, Finding, Outcome, Quantity, Remedy, Severity, Subject, Unit, Verdict};
use seatrial_report::TextStyle;
use seatrial_report::terminal::{Content, TerminalContext, render};

use super::fixture;

fn screen(document: &Document) -> String {
    render(document, &TerminalContext::default(), TextStyle::default())
}

/// Pairs of all of four nodes in both directions, as one of two nodes makes them.
fn pairs() -> Document {
    let mut document = fixture::lost_partner();
    let sound = document.results[1].clone();
    let pair = |one: u32, other: u32| {
        let mut case = CaseRecord { nodes: vec![format!("n{one}"), format!("n{other}")], ..sound.clone() };
        case.subject = format!("n{one}->n{other}").parse().expect("a subject");
        let Ok(id) = format!("net.rr@n{one}+n{other}/n{one}->n{other}").parse();
        case.case = id;
        case
    };
    let all = (1..=4).flat_map(|one| (1..=4).map(move |other| (one, other)));
    document.results = all.filter(|(one, other)| one != other).map(|(one, other)| pair(one, other)).collect();
    document.findings.clear();
    document
}

/// The same case with another message.
fn larger(case: &CaseRecord) -> CaseRecord {
    let mut case = case.clone();
    let Ok(id) = format!("{}[size=larger]", case.case).parse();
    case.case = id;
    case.params.set("size", "larger");
    case
}

fn finding(kind: &str, severity: Severity, node: &str, cause: Option<&str>) -> Finding {
    Finding {
        node: Some(node.to_owned()),
        cause: cause.map(str::to_owned),
        ..Finding::new(kind, severity, Subject::node(), format!("{node} has it"))
    }
}

#[test]
fn the_first_line_says_who_and_why_of_warnings_too_and_of_the_worst_first() {
    let first = |findings: Vec<Finding>| {
        let document = Document { findings, ..pairs() };
        screen(&document).lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(first(Vec::new()), "12 cases measured");
    let wide = || finding("did-not-converge", Severity::Warning, "n1", None);
    assert_eq!(first(vec![wide()]), "12 cases measured", "noise blames nobody");
    let harmless = |node: &str| finding("uniformity", Severity::Warning, node, Some("small-send-buffer"));
    let small = || Finding { evidence: vec!["net.rr@n1+n2".to_owned()], ..harmless("n1") };
    assert_eq!(first(vec![wide(), small()]), "n1: small send buffer; 12 cases measured");
    let without = "peers, without a measurable loss";
    assert_eq!(first(vec![harmless("n2")]), format!("12 cases measured; n2 differs from its {without}"));
    let two = first(vec![harmless("n2"), harmless("n4")]);
    assert_eq!(two, format!("12 cases measured; n[2,4] differ from their {without}"));
    assert_eq!(first(vec![harmless("n2"), small()]), "n1: small send buffer; 12 cases measured");
    let slow = || finding("slow-node", Severity::Problem, "n3", Some("smaller-mtu"));
    assert_eq!(first(vec![small(), slow()]), "n3: smaller MTU; 12 cases measured");
    let sized = Finding {
        value: Quantity::new(-88.27, Unit::Percent).ok(),
        evidence: vec!["net.rr".to_owned(), "throughput".to_owned()],
        ..slow()
    };
    let says = "n3 has 12 % of its peers' throughput: smaller MTU; 12 cases measured";
    assert_eq!(first(vec![small(), sized]), says);
    let open = finding("slow-node", Severity::Problem, "n4", Some("unexplained"));
    assert_eq!(first(vec![open, slow()]), "n4: slow node; 12 cases measured; 2 problems");
}

#[test]
fn a_difference_that_no_number_shows_stands_last_and_one_that_a_problem_tells_not_at_all() {
    let names = |findings: Vec<Finding>| {
        let text = screen(&Document { findings, ..pairs() });
        let acts = text.lines().skip_while(|line| *line != "To act on").skip(1);
        let acts = acts.take_while(|line| !line.is_empty()).filter(|line| line.contains("has it"));
        acts.map(|line| line.split([' ', ':']).find(|word| word.contains('-') || *word == "uniformity"))
            .map(|word| word.unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let unlike = finding("uniformity", Severity::Warning, "n1", Some("smaller-mtu"));
    let other = finding("lossy-node", Severity::Warning, "n4", Some("loss"));
    let slow = finding("slow-node", Severity::Problem, "n1", Some("smaller-mtu"));
    let limits = Finding { evidence: vec!["net.rr@n1+n2".to_owned()], ..unlike.clone() };
    assert_eq!(names(vec![unlike.clone(), other.clone()]), ["lossy-node", "uniformity"]);
    assert_eq!(names(vec![limits.clone(), other]), ["uniformity", "lossy-node"], "this one limits a case");
    assert_eq!(names(vec![unlike, slow.clone()]), ["slow-node"]);
    assert_eq!(names(vec![limits, slow]), ["slow-node"]);
}

#[test]
fn what_to_do_names_its_node_once() {
    let told = |node: &str, actor: Actor, action: &str| {
        let remedy = Remedy::of(actor, action.to_owned());
        let slow = finding("slow-node", Severity::Problem, node, None).with_remedy(remedy);
        let text = screen(&Document { findings: vec![slow], ..pairs() });
        let line = text.lines().find(|line| line.contains("do (")).expect("something to do");
        line.trim().to_owned()
    };
    let sysctl = "`sysctl -w a=1`";
    assert_eq!(told("n1", Actor::Root, sysctl), "do (administrator, as root, on n1): `sysctl -w a=1`");
    assert_eq!(told("n1", Actor::NetworkTeam, sysctl), "do (network team, for n1): `sysctl -w a=1`");
    assert_eq!(told("n1", Actor::Root, "on n1: `a`"), "do (administrator, as root): on n1: `a`");
    assert_eq!(told("n1", Actor::Root, "on n12: `a`"), "do (administrator, as root, on n1): on n12: `a`");
}

#[test]
fn findings_of_one_kind_that_are_not_shown_tell_their_nodes() {
    let told = |nodes: &[&str]| {
        let unlike = |node: &&str| finding("uniformity", Severity::Warning, node, None);
        screen(&Document { findings: nodes.iter().map(unlike).collect(), ..pairs() })
    };
    assert!(!told(&["n2"]).contains("of this kind"));
    let two = told(&["n2", "n4", "n3"]);
    assert!(two.contains("(2 more of this kind, on n[3-4]: --details)"), "{two}");
}

#[test]
fn the_first_line_names_the_node_whose_case_has_no_number_unless_most_have_none() {
    let first = |without: &[&str], cause: Cause, findings: Vec<Finding>| {
        let case = |node: &&str| match without.contains(node) {
            true => fixture::without_numbers(node, "read", cause, "the system refuses"),
            false => fixture::measured(node, "read", "nt", 250.0, &fixture::limit(307.2)),
        };
        let nodes = ["n1", "n2", "n3", "n4"];
        let mut document = fixture::document(&nodes, nodes.iter().map(case).collect());
        document.findings = findings;
        screen(&document).lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        first(&["n3"], Cause::Denied, Vec::new()),
        "n3 could not be measured (denied); 3 of 4 cases measured, 1 could not be measured"
    );
    assert_eq!(
        first(&["n2", "n3"], Cause::IoError, Vec::new()),
        "n[2-3] failed (io error); 2 of 4 cases measured, 2 failed"
    );
    let all = ["n1", "n2", "n3"];
    assert_eq!(first(&all, Cause::Denied, Vec::new()), "1 of 4 cases measured, 3 could not be measured");
    let known = finding("known-cause", Severity::Warning, "n3", Some("read-only-file-system"));
    assert_eq!(
        first(&["n3"], Cause::Denied, vec![known]),
        "n3: read-only file system; 3 of 4 cases measured, 1 could not be measured"
    );
}

#[test]
fn nodes_that_failed_only_with_a_culprit_are_shown_as_sound() {
    let mut document = pairs();
    let with_n4 = |case: &&mut CaseRecord| case.nodes.iter().any(|node| node == "n4");
    for case in document.results.iter_mut().filter(with_n4) {
        case.metrics.clear();
        (case.outcome, case.cause) = (Outcome::Failed, Some(Cause::IoError));
        // Each with its own port.
        case.reason = Some(format!("10.77.0.4: the request from {} was not answered", case.nodes[0]));
    }
    let evidence = document.results.iter().filter(|case| case.outcome == Outcome::Failed).take(3);
    document.findings = vec![Finding {
        evidence: evidence.map(|case| case.case.to_string()).collect(),
        ..finding("culprit", Severity::Problem, "n4", Some("firewall"))
    }];
    let text = screen(&document);
    let first = "n4: firewall or wrong route; 6 of 12 cases measured, 6 failed, all with n4\n";
    assert!(text.starts_with(first), "{text}");
    assert!(
        text.contains("4 nodes: 1 with a problem, 3 without a problem\n"),
        "each node is counted once: {text}"
    );
    let row = |node: &str| {
        text.lines().find(|line| line.contains(node) && line.contains(" of ")).map(str::to_owned)
    };
    for node in ["n1", "n2", "n3"] {
        let row = row(&format!("no problem  {node}")).unwrap_or_else(|| panic!("{node} is sound: {text}"));
        assert!(row.contains("4 of 6") && row.ends_with("failed only with n4"), "{row}");
    }
    assert!(row("failed      n4").is_some_and(|row| row.contains("culprit")), "{text}");
    let acts = text.lines().filter(|line| line.starts_with(" ✗")).count();
    assert_eq!(acts, 2, "the culprit, and its row: {text}");
    document.findings.clear();
    assert!(!screen(&document).contains("failed only"), "without a culprit nobody is sound");
}

#[test]
fn a_node_with_a_warning_is_not_counted_as_one_without_a_problem() {
    let mut document = pairs();
    document.findings = vec![finding("lossy-node", Severity::Warning, "n2", Some("lost-acknowledgements"))];
    let text = screen(&document);
    assert!(text.contains("4 nodes: 1 with a warning, 3 without a problem\n"), "{text}");
    let row = text.lines().find(|line| line.contains(" n2 ")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.starts_with(" ! warning") && row.contains("lossy-node"), "{row}");
}

#[test]
fn pairs_without_a_number_have_a_mark_in_the_matrix_and_are_counted_in_the_table_of_parts() {
    let mut document = pairs();
    for case in document.results.iter_mut().filter(|case| case.nodes[1] == "n3") {
        case.metrics.clear();
        (case.outcome, case.cause) = (Outcome::Failed, Some(Cause::IoError));
        case.reason = Some("packets of this size are lost on the way".to_owned());
    }
    let details = TerminalContext { content: Content::Details, ..TerminalContext::default() };
    let text = render(&document, &details, TextStyle::default());
    assert!(text.contains("failed: 3 pairs without a number\n"), "{text}");
    let row = text.lines().find(|line| line.starts_with(" n1    -")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.split_whitespace().eq(["n1", "-", "214", "failed", "214"]), "{row}");
    // More cases leave room for the parts alone.
    document.results = [document.results.clone(), document.results.iter().map(larger).collect()].concat();
    let text = screen(&document);
    let row = text.lines().find(|line| line.contains(" pair ")).unwrap_or_else(|| panic!("{text}"));
    let words: Vec<&str> = row.split_whitespace().collect();
    assert!(words.windows(3).any(|of| of == ["18", "of", "24"]) && words.contains(&"n1->n3"), "{text}");
}

#[test]
fn the_first_line_names_the_part_and_noise_is_no_finding_of_a_node() {
    let known = Finding {
        subject: Subject::device("fs", "/scratch"),
        ..finding("known-cause", Severity::Problem, "n2", Some("read-only-file-system"))
    };
    let wide = finding("did-not-converge", Severity::Warning, "n1", None);
    let text = screen(&Document { findings: vec![known, wide], ..pairs() });
    assert!(text.starts_with("n2: read-only file system (/scratch); 12 cases measured\n"), "{text}");
    assert!(!text.contains("did-not-converge"), "{text}");
}

#[test]
fn the_last_lines_do_not_repeat_the_first_and_fit_the_screen() {
    let slow = finding("slow-node", Severity::Problem, "n3", Some("smaller-mtu"));
    let text = screen(&Document { findings: vec![slow], ..pairs() });
    assert_eq!(text.lines().last(), Some(" the worst: slow-node on n3"), "{text}");
}

#[test]
fn what_follows_from_a_cause_is_no_warning_of_its_own() {
    let mut document = pairs();
    let [first, second] = [0, 1].map(|at: usize| document.results[at].case.to_string());
    for case in &mut document.results[..2] {
        let text = format!("{}: the sending program had nothing to send", case.subject);
        let limited = Finding::new("limited-by-application", Severity::Warning, case.subject.clone(), text);
        case.findings.push(limited);
    }
    let small = |evidence: Vec<String>| Finding {
        evidence,
        ..finding("uniformity", Severity::Warning, "n1", Some("small-send-buffer"))
    };
    document.findings = vec![small(vec![first.clone(), second])];
    assert!(!screen(&document).contains("limited-by-application"), "{}", screen(&document));
    document.findings = vec![small(vec![first])];
    let text = screen(&document);
    assert!(text.contains("limited-by-application: n1->n3"), "one does not follow: {text}");
}

#[test]
fn an_interval_as_wide_as_its_number_stands_in_no_table_of_parts() {
    let parts = |half: f64| {
        let mut document = fixture::fleet_of(4, |_| Verdict::Pass);
        for metric in document.results.iter_mut().flat_map(|case| case.metrics.values_mut()) {
            metric.ci95 = Some((metric.median * (1.0 - half), metric.median * (1.0 + half)));
        }
        let text = screen(&document);
        let rows: Vec<String> =
            text.lines().filter(|line| line.contains("mem.bandwidth")).map(str::to_owned).collect();
        assert!(!rows.is_empty(), "{text}");
        rows.join("\n")
    };
    assert!(parts(0.4).contains("±40%"), "{}", parts(0.4));
    assert!(!parts(2.14).contains('±'), "{}", parts(2.14));
}

#[test]
fn an_interval_wider_than_asked_for_is_explained_where_it_stands() {
    let told = |converged: bool| {
        let mut document = fixture::fleet_of(4, |_| Verdict::Pass);
        for metric in document.results.iter_mut().flat_map(|case| case.metrics.values_mut()) {
            metric.ci95 = Some((metric.median * 0.06, metric.median * 1.94));
            (metric.converged, metric.trials) = (converged, 2);
        }
        screen(&document).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let says = "±94% is half of the 95 % interval of 2 trials, wider than asked for (did-not-converge)";
    assert!(told(false).contains(says), "{}", told(false));
    assert!(!told(true).contains("did-not-converge"), "{}", told(true));
}

#[test]
fn what_to_do_is_whole_and_sentences_end_where_a_clause_does() {
    let mut document = pairs();
    let long =
        format!("n3: the path is full; {}; the end", "n3 receives slowly from its partners, ".repeat(30));
    let action = format!("look at its switch port; excluded: {}", ["shaper"; 40].join(", "));
    document.findings = vec![Finding {
        text: long,
        ..finding("slow-node", Severity::Problem, "n3", Some("full-path"))
            .with_remedy(Remedy::of(Actor::NetworkTeam, action.clone()))
    }];
    let text = screen(&document);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&action), "{text}");
    assert!(words.contains("slow-node: n3: the path is full; … do (network team, for n3)"), "{text}");
}
