//! Messages about invalid profiles.

use crate::common::complaint;
use insta::assert_snapshot;

const TEST: &str =
    "[[test]]\nid = \"memory\"\nuse = \"mem.bandwidth\"\nparams = { kernel = [\"read\", \"copy\"] }\n";

fn with_criterion(criterion: &str) -> String {
    complaint(&format!("{TEST}\n[[criterion]]\ntest = \"memory\"\n{criterion}"))
}

fn with_bandwidth(bound: &str) -> String {
    with_criterion(&format!("metric = \"bandwidth\"\n{bound}"))
}

#[test]
fn unknown_keys_are_named_with_the_nearest_one() {
    let text = format!("titel = \"x\"\n{TEST}pattrn = \"ring\"\n[roles.head]\nnode = \"n1\"\nzzz = 1");
    assert_snapshot!(complaint(&text));
}

#[test]
fn wrong_types_are_named() {
    let text = "title = 5\nextends = \"host\"\n[[test]]\nid = [1]\nuse = \"net.echo\"\nroles = \"head\"\n\
                expect = 2\nparams = { a = { b = 1 } }\n[test2]\n[criterion]\nid = \"x\"\n";
    assert_snapshot!(complaint(text));
}

#[test]
fn a_load_beside_a_test_is_another_test_without_a_load() {
    let test = |id: &str, beside: &str| {
        format!("[[test]]\nid = \"{id}\"\nuse = \"net.echo\"\nbeside = \"{beside}\"\n")
    };
    assert_snapshot!(complaint(&(test("ping", "blk") + &test("bulk", "bulk") + &test("third", "ping"))));
}

#[test]
fn a_test_on_what_no_subject_is_names_the_nearest() {
    let on =
        ["{ kind = \"nodes\" }", "{ kind = \"nic\", sped = \"10 Gbit/s\" }", "{ link_layr = \"ethernet\" }"];
    let shown = on.map(|on| complaint(&format!("{TEST}on = {on}\n")));
    assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn a_requirement_on_a_fact_that_no_subject_has_names_the_nearest() {
    for (rest, says) in [
        ("on = { kind = \"nic\" }\nrequire = { mtuu = 9000 }", "there is no fact 'mtuu' of a nic"),
        ("require = { fill_precent = { at_least = 50 } }", "did you mean 'fill_percent'?"),
        (
            "[[price]]\non = { kind = \"nic\", sped = 1 }\namount = 3\ncurrency = \"EUR\"",
            "did you mean 'speed'?",
        ),
    ] {
        let text = complaint(&format!("{TEST}{rest}\n"));
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn what_is_written_in_another_form_is_told_with_the_right_one() {
    let text = format!("time_budget = 90\nroles = \"head\"\n{TEST}roles = \"head\"\n");
    assert_snapshot!(complaint(&text));
}

#[test]
fn an_unknown_benchmark_suggests_the_nearest() {
    assert_snapshot!(complaint("[[test]]\nid = \"m\"\nuse = \"mem.bandwith\"\n"));
}

#[test]
fn a_test_id_used_twice_shows_both() {
    assert_snapshot!(complaint(&format!("{TEST}\n{TEST}")));
}

#[test]
fn a_test_id_with_a_blank_is_refused() {
    assert_snapshot!(complaint("[[test]]\nid = \"my test\"\nuse = \"net.echo\"\n"));
}

#[test]
fn missing_keys_are_asked_for() {
    assert_snapshot!(complaint(
        "[[test]]\nroles = []\n[[criterion]]\nat_least = 1\n[[waiver]]\n[[setting]]\n[[limit]]\n"
    ));
}

#[test]
fn a_criterion_on_a_missing_test_and_one_on_a_missing_metric() {
    let text = format!(
        "{TEST}\n[[criterion]]\ntest = \"memroy\"\nmetric = \"bandwidth\"\nat_least = \"1 GB/s\"\n\
         [[criterion]]\ntest = \"memory\"\nmetric = \"bandwith\"\nat_least = \"1 GB/s\"\n"
    );
    assert_snapshot!(complaint(&text));
}

#[test]
fn where_on_a_missing_parameter_and_on_a_value_never_run() {
    assert_snapshot!(with_bandwidth(
        "where = { kernal = \"read\", kernel = \"triad\", store = \"nt\", array = \"3 PiB\" }\nat_least = \"1 GB/s\"\n"
    ));
}

#[test]
fn bounds_that_are_no_numbers_are_refused() {
    let bounds = [
        "nan",
        "inf",
        "\"NaN GB/s\"",
        "\"1e999 GB/s\"",
        "\"fast\"",
        "{ percent_of = \"limit\", value = nan }",
    ];
    let shown: Vec<String> =
        bounds.iter().map(|bound| with_bandwidth(&format!("at_least = {bound}\n"))).collect();
    assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn a_unit_of_the_wrong_kind_is_refused() {
    let bounds = ["\"3 ns\"", "90", "\"9 gbit/s\"", "\"-1 GB/s\""];
    let shown: Vec<String> =
        bounds.iter().map(|bound| with_bandwidth(&format!("at_least = {bound}\n"))).collect();
    assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn a_percentage_out_of_sense_is_refused() {
    let bounds = [
        "at_least = { percent_of = \"limit\", value = 101 }",
        "at_least = { percent_of = \"limit\", value = 0 }",
        "at_least = { percent_of = \"fleet_median\", value = 5000 }",
        "at_least = { percent_of = \"reference\", value = -90 }",
        "at_least = { percent_of = \"limits\", value = 90 }",
        "at_least = { percent_of = \"limit\", value = \"90 GB/s\" }",
        "at_least = { percent_of = \"limit\" }",
    ];
    let shown: Vec<String> = bounds.iter().map(|bound| with_bandwidth(bound)).collect();
    assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn a_limit_of_latency_is_a_floor() {
    let text = "[[test]]\nid = \"echo\"\nuse = \"net.echo\"\n[[criterion]]\ntest = \"echo\"\nmetric = \"latency\"\n\
                at_most = { percent_of = \"limit\", value = 90 }\n";
    assert_snapshot!(complaint(text));
}

#[test]
fn no_bound_several_bounds_and_empty_ranges_are_refused() {
    let bounds = [
        "",
        "at_least = \"1 GB/s\"\nat_most = \"2 GB/s\"\n",
        "within = [\"2 GB/s\", \"8 Gbit/s\"]\n",
        "within = [\"2 GB/s\"]\n",
    ];
    let shown: Vec<String> = bounds.iter().map(|bound| with_bandwidth(bound)).collect();
    assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn statistics_and_places_that_do_not_exist_are_refused() {
    let criteria = [
        "metric = \"bandwidth\"\nof = \"medain\"\nat_least = \"1 GB/s\"\n",
        "metric = \"threads\"\nof = \"worst\"\nat_least = 1\n",
        "metric = \"bandwidth\"\nat = { size = \"64 KiB\" }\nat_least = \"1 GB/s\"\n",
        "metric = \"by_size\"\nat = { sise = 1, size = \"3 ns\" }\nat_least = \"1 GB/s\"\n",
        "metric = \"by_size\"\nat_least = { percent_of = \"limit\", value = 50 }\n",
    ];
    let shown: Vec<String> = criteria.iter().map(|criterion| with_criterion(criterion)).collect();
    assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn two_criteria_of_one_derived_id_are_told_apart_by_hand() {
    let one = "[[criterion]]\ntest = \"memory\"\nmetric = \"bandwidth\"\nat_least = \"1 GB/s\"\n";
    assert_snapshot!(complaint(&format!("{TEST}\n{one}{one}")));
}

#[test]
fn parameter_values_that_the_benchmark_refuses() {
    let text = "[[test]]\nid = \"m\"\nuse = \"mem.bandwidth\"\n\
                params = { kernel = [\"read\", \"traid\"], array = \"1 PiB\", trials = 0, store = true, colour = 1 }\n\
                [[test]]\nid = \"n\"\nuse = \"mem.bandwidth\"\nparams = { kernel = [], trials = -1, array = nan }\n";
    assert_snapshot!(complaint(text));
}

#[test]
fn roles_patterns_and_partners_that_are_not_defined() {
    let text = "[[test]]\nid = \"e\"\nuse = \"net.echo\"\nroles = [\"haed\"]\npattern = \"rign\"\npartner = \"tail\"\n\
                [[test]]\nid = \"m\"\nuse = \"mem.bandwidth\"\npattern = \"ring\"\n\
                [[setting]]\nid = \"cpu.govenor\"\nequals = \"performance\"\nroles = [\"nobody\"]\n\
                [roles.head]\nnodes = \"n[1-\"\nexpect = { at_least = 2, exactly = 1 }\n";
    assert_snapshot!(complaint(text));
}

#[test]
fn what_is_expected_and_required_in_words_that_do_not_exist() {
    let test = |id: &str, lines: &str| format!("[[test]]\nid = \"{id}\"\nuse = \"mem.bandwidth\"\n{lines}\n");
    let text = [
        test("a", "on = { kind = \"nic\" }\nexpect = \"al\"\nif_none = \"pass\""),
        test("b", "on = { kind = \"node\" }\nexpect = \"all\""),
        test("c", "expect = 3\nrequire = { up = [true] }"),
        "[roles.head]\nnodes = \"n1\"\nexpect = \"all\"\n".to_owned(),
    ];
    assert_snapshot!(complaint(&text.concat()));
}

#[test]
fn settings_that_are_no_settings_of_the_subject_and_values_that_they_do_not_have() {
    let rule = |id: &str, lines: &str| format!("[[setting]]\nid = \"{id}\"\n{lines}\n");
    let text = [
        rule("cpu.governor", "equals = \"performence\"\non = { kind = \"nic\" }"),
        rule("cpu.governor", "at_least = \"performance\"\nroles = [\"head\"]"),
        rule("net.mtu", "equals = true\non = { sped = \"10 Gbit/s\" }"),
        rule("net.mtu", "at_least = 9000\nat_most = 1500\nequals = [9000, 1500]"),
        rule("net.mtu", "at_most = \"unlimited\"\non = { name = \"a\" }"),
        rule("net.mtu", "at_least = \"9 kB\"\nequals = 9000\non = { name = \"b\" }"),
        rule("net.shares", "equals = [\"4 KiB\", \"8 GiB\"]"),
        rule("net.shares", "equals = \"4096\"\nroles = [\"head\"]"),
        rule(
            "net.shares",
            "none_of = [\"4096 8192\"]\non = { by = \"c\" }\nmissed = \"warm\"\nwithout_value = \"pass\"",
        ),
        "[roles.head]\nnodes = \"n1\"\n".to_owned(),
    ];
    assert_snapshot!(complaint(&text.concat()));
}

#[test]
fn a_setting_wanted_twice_of_the_same_subjects_is_refused() {
    let rule = "[[setting]]\nid = \"net.mtu\"\nequals = 9000\non = { up = true }\n";
    assert_snapshot!(complaint(&format!("{rule}{rule}")));
}

#[test]
fn waivers_of_nothing_and_without_a_date() {
    let text = format!(
        "{TEST}\n[[criterion]]\nid = \"memory\"\ntest = \"memory\"\nmetric = \"bandwidth\"\nat_least = \"1 GB/s\"\n\
         [[waiver]]\ncriterion = \"memory\"\nowner = \"Ada\"\nreason = \"\"\nuntil = \"next week\"\n\
         [[waiver]]\ncriterion = \"memory\"\nnodes = \"n[9-1]\"\nowner = \"Ada\"\nreason = \"DIMM ordered\"\n\
         until = \"2026-02-30\"\n"
    );
    assert_snapshot!(complaint(&text));
    let text = format!(
        "{TEST}\n[[criterion]]\nid = \"memory\"\ntest = \"memory\"\nmetric = \"bandwidth\"\nat_least = \"1 GB/s\"\n\
         [[waiver]]\ncriterion = \"memroy\"\nowner = \"Ada\"\nreason = \"DIMM ordered\"\nuntil = 2026-05-01\n"
    );
    assert_snapshot!("waiver_of_nothing", complaint(&text));
}

#[test]
fn limits_that_are_none() {
    let limit = |line: &str| format!("[[limit]]\ntest = \"memory\"\nsource = \"data sheet\"\n{line}\n");
    let text = [
        TEST.to_owned(),
        limit("metric = \"bandwidth\"\nvalue = \"3 ns\""),
        limit("metric = \"bandwidth_all\"\nvalue = \"0 GB/s\""),
        limit("metric = \"by_size\"\nvalue = \"9 GB/s\""),
        limit("metric = \"bandwidth\"\nwhere = { kernel = \"triad\" }\nvalue = \"9 GB/s\""),
    ];
    assert_snapshot!(complaint(&text.concat()));
}

#[test]
fn broken_toml_shows_the_place() {
    assert_snapshot!(complaint("title = \"x\n[[test]\nid = \"a\"\n"));
}

#[test]
fn an_empty_profile_asks_for_nothing() {
    assert_snapshot!(complaint(""));
}

#[test]
fn control_characters_of_a_profile_do_not_reach_the_terminal() {
    let shown = complaint("\"\\u001b[31mred\" = 1\n[[test]]\nid = \"a\"\nuse = \"\\u001b[2J\"\n");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    assert_snapshot!(shown);
}

#[test]
fn colour_is_on_only_when_asked_for() {
    let error = crate::common::read("x = 1").expect_err("taken");
    assert!(error.render(true).contains('\u{1b}'));
    assert!(!error.render(false).contains('\u{1b}'));
    assert_eq!(error.to_string(), error.render(false));
}

#[test]
fn numbers_of_rounds_and_links_are_counts_that_can_be() {
    let test = "[[test]]\nid = \"e\"\nuse = \"net.echo\"\n";
    assert!(complaint(&format!("{test}rounds = 0\n")).contains("'rounds' is from 1 to 1000"));
    assert!(complaint(&format!("{test}links = 5000\n")).contains("'links' is from 1 to 1024"));
    assert!(complaint(&format!("{test}links = \"six\"\n")).contains("whole number"));
}

#[test]
fn prices_that_are_none() {
    let price =
        |keys: &str| complaint(&format!("[[test]]\nid = \"a\"\nuse = \"net.echo\"\n[[price]]\n{keys}\n"));
    let on = "on = { kind = \"nic\" }";
    let all = price("");
    for wanted in ["[[price]] needs 'on'", "[[price]] needs 'amount'", "[[price]] needs 'currency'"] {
        assert!(all.contains(wanted), "{all}");
    }
    for amount in ["0", "-3", "\"100 USD\"", "true"] {
        let told = price(&format!("{on}\namount = {amount}\ncurrency = \"USD\""));
        assert!(told.contains("'amount' must be a number above 0"), "{amount}: {told}");
    }
    let anything = price("on = { speed = \"10 Gbit/s\" }\namount = 1\ncurrency = \"USD\"");
    assert!(anything.contains("[[price]] needs 'on', such as"), "{anything}");
    let twice =
        format!("{on}\namount = 1\ncurrency = \"USD\"\n[[price]]\n{on}\namount = 2\ncurrency = \"USD\"");
    assert!(price(&twice).contains("two prices are called 'kind=nic'"), "{}", price(&twice));
    let unknown = price(&format!("{on}\namount = 1\ncurency = \"USD\""));
    assert!(unknown.contains("unknown key 'curency' in [[price]]"), "{unknown}");
}
