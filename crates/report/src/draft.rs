//! A drafted profile as TOML, with the source of each bound in comments.

use std::collections::BTreeMap;
use std::fmt::Write;

use seatrial_analysis::{Draft, FLOOR_PERCENT, MADS, Spread};
use seatrial_model::profile::{Absence, Bar, Bounds, Criterion, Requirement, Role, Test};
use seatrial_model::{Better, Params, Quantity, Unit, Value};

use crate::number::{decimals, percentage};

const WIDTH: usize = 100;

/// The profile of `draft`, drafted from `runs`, as TOML to edit and to pass to `seatrial check`.
pub fn toml(draft: &Draft, runs: &[String]) -> String {
    let mut text = String::new();
    let from = runs.join(", ");
    let noun = if runs.len() == 1 { "run" } else { "runs" };
    comment(&mut text, &format!("A draft made by `seatrial profile draft` from {noun} {from}."));
    comment(
        &mut text,
        &format!(
            "The rule of every bound: the worst end of any 95 % interval that these runs saw, and beyond it {MADS} median \
             absolute deviations (MAD) of all medians, or {FLOOR_PERCENT} % of their median where that is more; rounded \
             to three digits, away from the good ones. It says what these nodes did on these days, and not what their \
             hardware can do: put what was bought or promised in its place where you know it."
        ),
    );
    line(&mut text, &format!("title = {}", quoted(&format!("drafted from {from}"))));
    for (name, role) in &draft.profile.roles {
        role_table(&mut text, name, role, draft.classes.get(name));
    }
    for test in &draft.profile.tests {
        test_table(&mut text, test);
        for criterion in draft.profile.criteria_of(&test.id) {
            criterion_table(&mut text, criterion, draft.spreads.get(&criterion.id));
        }
    }
    if !draft.left_out.is_empty() {
        text.push('\n');
        comment(&mut text, "Left out:");
        for what in &draft.left_out {
            comment(&mut text, &format!("- {what}"));
        }
    }
    text.push('\n');
    comment(
        &mut text,
        "Settings, limits, prices and waivers are not drafted; `extends` takes those of another profile.",
    );
    text
}

fn line(text: &mut String, what: &str) {
    text.push_str(what);
    text.push('\n');
}

fn role_table(text: &mut String, name: &str, role: &Role, what: Option<&String>) {
    text.push('\n');
    if let Some(what) = what {
        comment(text, what);
    }
    line(text, &format!("[roles.{}]", key(name)));
    if !role.nodes.is_empty() {
        line(text, &format!("nodes = {}", quoted(&role.nodes.to_string())));
    }
    if let Some(expect) = role.expect {
        line(text, &format!("expect = {}", expect_table(expect)));
    }
}

fn test_table(text: &mut String, test: &Test) {
    line(text, "\n[[test]]");
    line(text, &format!("id = {}", quoted(&test.id)));
    line(text, &format!("use = {}", quoted(&test.bench)));
    if let Some(pattern) = &test.pattern {
        line(text, &format!("pattern = {}", quoted(pattern)));
    }
    if !test.roles.is_empty() {
        line(text, &format!("roles = {}", list(&test.roles)));
    }
    if !test.params.is_empty() {
        let pairs = test.params.iter().map(|(name, values)| match values.as_slice() {
            [one] => format!("{} = {}", key(name), quoted(one)),
            values => format!("{} = {}", key(name), list(values)),
        });
        line(text, &format!("params = {{ {} }}", pairs.collect::<Vec<_>>().join(", ")));
    }
    if !test.on.is_empty() {
        line(text, &format!("on = {}", params(&test.on)));
    }
    if !test.require.is_empty() {
        line(text, &format!("require = {}", require(&test.require)));
    }
    if let Some(expect) = test.expect {
        line(text, &format!("expect = {}", expect_table(expect)));
    }
    if test.if_none == Absence::Skip {
        line(text, "if_none = \"skip\"");
    }
    for (name, word) in [("partner", &test.partner), ("beside", &test.beside)] {
        if let Some(word) = word {
            line(text, &format!("{name} = {}", quoted(word)));
        }
    }
    for (name, count) in [("rounds", test.rounds), ("links", test.links)] {
        if let Some(count) = count {
            line(text, &format!("{name} = {count}"));
        }
    }
    if let Some(groups) = &test.groups {
        line(text, &format!("groups = {}", quoted(&groups.to_string())));
    }
}

fn criterion_table(text: &mut String, criterion: &Criterion, spread: Option<&Spread>) {
    text.push('\n');
    if let Some(spread) = spread {
        comment(text, &in_words(spread));
    }
    line(text, "[[criterion]]");
    line(text, &format!("id = {}", quoted(&criterion.id)));
    line(text, &format!("test = {}", quoted(&criterion.test)));
    line(text, &format!("metric = {}", quoted(&criterion.metric)));
    if !criterion.cases.is_empty() {
        line(text, &format!("where = {}", params(&criterion.cases)));
    }
    let bound = match &criterion.bounds {
        Bounds::AtLeast(bar) => format!("at_least = {}", bar_text(bar)),
        Bounds::AtMost(bar) => format!("at_most = {}", bar_text(bar)),
        Bounds::Equals(bar) => format!("equals = {}", bar_text(bar)),
        Bounds::Within(low, high) => format!("within = [{}, {}]", bar_text(low), bar_text(high)),
    };
    line(text, &bound);
}

fn in_words(spread: &Spread) -> String {
    let decimals = 1 + decimals([spread.median, spread.worst]);
    let unit = if spread.unit == Unit::Count { String::new() } else { format!(" {}", spread.unit) };
    let share_of = |value: f64| {
        if spread.median == 0.0 {
            String::new()
        } else {
            format!(" ({})", percentage(100.0 * value / spread.median.abs()))
        }
    };
    let values = if spread.count == 1 { "1 value".to_owned() } else { format!("{} values", spread.count) };
    let end = if spread.better == Better::Lower { "highest" } else { "lowest" };
    format!(
        "{values}, median {:.decimals$}{unit}, MAD {:.decimals$}{unit}{}; the {end} end of an interval (without one: the {end} sample) is {:.decimals$}{unit}, of {}.",
        spread.median,
        spread.mad,
        share_of(spread.mad),
        spread.worst,
        spread.worst_case
    )
}

fn bar_text(bar: &Bar) -> String {
    let of = |what: &str, percent: f64| format!("{{ percent_of = \"{what}\", value = {percent} }}");
    match bar {
        Bar::Absolute(quantity) => quantity_text(*quantity),
        Bar::PercentOfLimit(percent) => of("limit", *percent),
        Bar::PercentOfNominal(percent) => of("nominal", *percent),
        Bar::PercentOfFleetMedian(percent) => of("fleet_median", *percent),
        Bar::PercentOfReference(percent) => of("reference", *percent),
    }
}

/// A count is a plain number in TOML, everything else a text with its unit.
fn quantity_text(quantity: Quantity) -> String {
    if quantity.unit() == Unit::Count { quantity.value().to_string() } else { quoted(&quantity.to_string()) }
}

fn params(params: &Params) -> String {
    let pairs: Vec<String> =
        params.iter().map(|(name, value)| format!("{} = {}", key(name), value_text(value))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Count(count) => count.to_string(),
        // A float of TOML has a point or an exponent.
        Value::Number(number) => format!("{number:?}"),
        Value::Text(text) => quoted(text),
    }
}

fn require(require: &BTreeMap<String, Requirement>) -> String {
    let one = |(name, requirement): (&String, &Requirement)| {
        let bounds = [
            requirement.at_least.map(|bound| format!("at_least = {}", quantity_text(bound))),
            requirement.at_most.map(|bound| format!("at_most = {}", quantity_text(bound))),
            requirement.equals.as_ref().map(|value| format!("equals = {}", value_text(value))),
        ];
        format!("{} = {{ {} }}", key(name), bounds.into_iter().flatten().collect::<Vec<_>>().join(", "))
    };
    format!("{{ {} }}", require.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn expect_table(expect: seatrial_model::profile::Expect) -> String {
    if expect.all {
        return quoted("all");
    }
    let counts = [
        expect.at_least.map(|count| format!("at_least = {count}")),
        expect.exactly.map(|count| format!("exactly = {count}")),
    ];
    format!("{{ {} }}", counts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

fn key(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// A basic string of TOML (toml.io, v1.0.0).
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            c if c.is_control() => {
                // Writing to a String does not fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

/// A comment, wrapped; control characters, which would end it, become blanks.
fn comment(text: &mut String, what: &str) {
    let what: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut open = String::from("#");
    for word in what.split_whitespace() {
        if open.chars().count() + 1 + word.chars().count() > WIDTH && open.len() > 1 {
            line(text, &open);
            open = String::from("#");
        }
        open.push(' ');
        open.push_str(word);
    }
    line(text, &open);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_keys_are_quoted_as_toml_wants() {
        assert_eq!(quoted("a \"b\" \\ c\n"), "\"a \\\"b\\\" \\\\ c\\u000A\"");
        assert_eq!(
            (key("kernel"), key("a b"), key("")),
            ("kernel".to_owned(), "\"a b\"".to_owned(), "\"\"".to_owned())
        );
        assert_eq!(value_text(&Value::Number(2.0)), "2.0");
    }

    #[test]
    fn a_comment_stays_one_whatever_it_says() {
        let mut text = String::new();
        comment(&mut text, &format!("one\n[[test]] {}", "word ".repeat(40)));
        assert!(text.lines().all(|line| line.starts_with("# ") && line.len() <= WIDTH), "{text}");
    }
}
