//! Two runs compared: better, worse, the same, cannot tell, and other changes.

use std::collections::BTreeMap;

use seatrial_analysis::{BY_CHANCE, Change, Changed, Comparison, Difference, DifferingParam, Ended, Side};
use seatrial_model::{Better, Unit, Verdict as Tone};
use seatrial_stats::Verdict;

use super::table::{Builder, Cell, CellPlot, Column, Gain, Table};
use crate::labels::{self, Label};
use crate::number::{change, decimals, percentage};
use crate::words::{Badge, count, direction, in_unit, set_of, unit};

const LONGEST_SET: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    Worse,
    CannotTell,
    Same,
    Better,
    NotComparable,
}

impl Call {
    /// In the order of a summary.
    const ALL: [Self; 5] = [Self::Worse, Self::Better, Self::Same, Self::CannotTell, Self::NotComparable];

    pub fn of(row: &Difference) -> Self {
        match row.change.as_ref().map(|change| change.verdict) {
            Ok(Verdict::Worse) => Self::Worse,
            Ok(Verdict::Better) => Self::Better,
            Ok(Verdict::Same) => Self::Same,
            Ok(Verdict::CannotTell) => Self::CannotTell,
            Err(_) => Self::NotComparable,
        }
    }

    pub const fn badge(self) -> Badge {
        let (sign, word, tone) = match self {
            Self::Worse => ('▼', "worse", Tone::Fail),
            Self::Better => ('▲', "better", Tone::Pass),
            Self::Same => ('=', "same", Tone::Skip),
            Self::CannotTell => ('?', "cannot tell", Tone::Unknown),
            Self::NotComparable => ('?', "not comparable", Tone::Warn),
        };
        Badge { sign, word, tone }
    }

    /// The words for several of them.
    const fn of_several(self) -> &'static str {
        match self {
            Self::Same => "the same",
            Self::CannotTell => "cannot be told apart",
            Self::Worse | Self::Better | Self::NotComparable => self.badge().word,
        }
    }
}

/// The difference in percent with its sign turned such that more is better.
fn gain(row: &Difference) -> Option<f64> {
    Some(turned(row, row.change.as_ref().ok()?.percent?))
}

fn turned(row: &Difference, percent: f64) -> f64 {
    if row.better == Better::Lower { -percent } else { percent }
}

/// The difference in percent, which what was 0 has none of.
pub fn percent(of: &Change) -> String {
    of.percent.map_or_else(|| "from 0".to_owned(), change)
}

/// The differences for reading: worse first, of these headline metrics, and of these the largest loss.
pub fn worst_first(all: &[Difference]) -> Vec<&Difference> {
    let mut rows: Vec<&Difference> = all.iter().collect();
    let order = |row: &Difference| (Call::of(row), !row.is_headline);
    // What comes up from 0 grows beyond any percentage.
    let beyond = |row: &Difference| row.change.is_ok().then(|| turned(row, f64::INFINITY));
    let lost = |row: &Difference| gain(row).or_else(|| beyond(row)).unwrap_or(0.0);
    rows.sort_by(|one, other| order(one).cmp(&order(other)).then_with(|| lost(one).total_cmp(&lost(other))));
    rows
}

/// The worst and then the best differences as sentences, where they are spread over several tables, and the number of
/// those that are not told.
pub fn foremost(comparison: &Comparison, most: usize) -> (Vec<(Badge, String)>, usize) {
    let all = worst_first(&comparison.differences);
    if all.iter().all(|row| metric(row) == metric(all[0])) {
        return (Vec::new(), 0);
    }
    let is_clear = |(row, _): &(&Difference, String)| matches!(Call::of(row), Call::Worse | Call::Better);
    let clear: Vec<_> = all.iter().copied().zip(names(&all)).filter(is_clear).collect();
    let sentence = |(row, name): &(&Difference, String)| {
        let digits = digits(row);
        let value = |side: &Side| side.value.map_or(String::new(), |value| format!("{value:.digits$}"));
        let by = row.change.as_ref().ok().and_then(|of| of.percent);
        let by = by.map_or(String::new(), |percent| format!(", {}", change(percent)));
        let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
        let told = format!("{} {}{of}: {} -> {}", row.bench, row.metric, value(&row.a), value(&row.b));
        (Call::of(row).badge(), format!("{told}{}{by}", unit(row.unit)))
    };
    (clear.iter().take(most).map(sentence).collect(), clear.len().saturating_sub(most))
}

/// The parameters that keep the cases of the runs apart, as sentences.
pub fn differing(comparison: &Comparison) -> Vec<String> {
    let sentence = |param: &DifferingParam| {
        let (a, b) = (param.a.join(", "), param.b.join(", "));
        format!("{}: {} is {a} before and {b} after", param.bench, param.name)
    };
    comparison.differing.iter().map(sentence).collect()
}

/// `1 worse, 2 the same`.
pub fn counts(comparison: &Comparison) -> String {
    let all = &comparison.differences;
    let number = |call: Call| all.iter().filter(|row| Call::of(row) == call).count();
    listed(Call::ALL.map(|call| (number(call), call.of_several())))
}

/// Differences besides the metrics: `1 now failing, 2 changed beside them`.
pub fn beside(comparison: &Comparison) -> String {
    listed([
        (comparison.broken.len(), "now failing"),
        (comparison.mended.len(), "no longer failing"),
        (comparison.unmeasured.len(), "no longer measured"),
        (comparison.changed.len(), "changed beside them"),
    ])
}

fn listed<const N: usize>(numbers: [(usize, &str); N]) -> String {
    let told = numbers.iter().filter(|(number, _)| *number > 0);
    told.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

/// Why a result is unclear: the smallest difference that would have shown. `None` for a clear result.
fn why(change: &Change) -> Option<String> {
    match change.verdict {
        Verdict::Worse | Verdict::Better | Verdict::Same => None,
        Verdict::CannotTell if change.may_be_chance => {
            let why = "significant by itself, but among so many comparisons such differences come by chance";
            Some(why.to_owned())
        }
        Verdict::CannotTell if change.is_zero_split => Some(
            "0 in every trial of one run and in none of the other: the trials are too few to tell".to_owned(),
        ),
        Verdict::CannotTell => change.smallest_percent.map(|percent| {
            format!("a change below {} would not be seen: the trials scatter", percentage(percent))
        }),
    }
}

fn interval(of: &Change) -> String {
    of.interval.map_or(String::new(), |(low, high)| format!("{} … {}", change(low), change(high)))
}

fn same(comparison: &Comparison) -> String {
    match comparison.same_within {
        Some(within) => format!("same: shown to lie within {} of the first", percentage(100.0 * within)),
        None => "same: equal in every trial".to_owned(),
    }
}

pub fn test(comparison: &Comparison) -> Option<String> {
    comparison.differences.iter().find(|row| row.change.is_ok())?;
    let same = same(comparison);
    Some(format!(
        "before and after: the geometric mean of the trials' medians, from which change and interval follow. \
         better and worse: Welch's t test over the trials, corrected so that at most {} of them are by \
         chance; {same}. This is about two runs only: `seatrial history` shows how runs of one machine vary",
        percentage(100.0 * BY_CHANCE)
    ))
}

/// The cases that were measured in one run only.
pub fn ended(comparison: &Comparison) -> Vec<(Badge, &Ended)> {
    let kinds = [
        (Badge { word: "fails now", ..Call::Worse.badge() }, &comparison.broken),
        (Badge { word: "unmeasured now", ..Call::CannotTell.badge() }, &comparison.unmeasured),
        (Badge { word: "failed before", ..Call::Better.badge() }, &comparison.mended),
    ];
    kinds.into_iter().flat_map(|(badge, all)| all.iter().map(move |ended| (badge, ended))).collect()
}

pub fn changed(all: &[Changed]) -> Table {
    let nodes = |changed: &Changed| {
        set_of(&changed.nodes.iter().map(String::as_str).collect::<Vec<_>>(), LONGEST_SET)
    };
    Builder::new("Changed settings and inventory", all)
        .words("changed", |changed| changed.what.as_str())
        .words("before", |changed| changed.before.as_str())
        .words("after", |changed| changed.after.as_str())
        .words("on", nodes)
        .about(|changed, row| row.nodes.clone_from(&changed.nodes))
        .finish()
}

/// Cases by name; of more than `most` the others are counted.
pub fn some_of(cases: &[String], most: usize) -> String {
    let text = cases.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    if cases.len() > most { format!("{text} and {} more", cases.len() - most) } else { text }
}

/// The common key of the differences of a table.
pub fn metric(row: &Difference) -> (&str, &str, Unit) {
    (&row.bench, &row.metric, row.unit)
}

/// Tables of one benchmark, metric and unit: headline metrics, then others in the order that the benchmark declares.
/// In each table the worst row is first.
pub fn tables(differences: &[Difference]) -> Vec<Table> {
    let mut declared = Vec::new();
    for row in differences {
        if !declared.contains(&metric(row)) {
            declared.push(metric(row));
        }
    }
    let rows = worst_first(differences);
    let of = |key| rows.iter().copied().filter(|row| metric(row) == key).collect();
    let mut groups: Vec<Vec<&Difference>> = declared.into_iter().map(of).collect();
    groups.sort_by_key(|rows| !rows.iter().any(|row| row.is_headline));
    groups.iter().map(|rows| table(rows)).collect()
}

/// The headline figures, and of others what is clearly better or worse, the worst first: `most` rows at most.
pub fn summary(comparison: &Comparison, most: usize) -> Table {
    let is_told = |row: &&Difference| {
        let is_clear = matches!(Call::of(row), Call::Worse | Call::Better);
        row.is_headline || row.metric.is_empty() || is_clear || row.may_be_worse()
    };
    let all: Vec<&Difference> = worst_first(&comparison.differences).into_iter().filter(is_told).collect();
    let rows = &all[..most.min(all.len())];
    let names = names(rows);
    let mut next = names.iter();
    let what = |row: &&Difference| match row.is_headline || row.metric.is_empty() {
        true => row.bench.clone(),
        false => format!("{} {}", row.bench, row.metric),
    };
    let value = |row: &Difference, side: &Side| Cell::number(side.value, digits(row));
    let of = |row: &Difference, said: &dyn Fn(&Change) -> String| row.change.as_ref().ok().map(said);
    let note = |row: &Difference| match &row.change {
        Ok(change) => why(change).filter(|_| change.may_be_chance || change.is_zero_split),
        Err(why) => Some(why.clone()),
    };
    let table = Builder::new("", rows)
        .words("verdict", |row| Cell::from(Call::of(row).badge()).notes(note(row)))
        .words("test", what)
        .column(Column::words("of").label(), |_| next.next().cloned())
        .numbers("before", |row| value(row, &row.a))
        .numbers("after", |row| value(row, &row.b))
        .words("unit", |row| unit(row.unit).trim().to_owned())
        .numbers("change", |row| {
            let half = |(low, high): (f64, f64)| format!(" ±{}", percentage((high - low) / 2.0));
            of(row, &|of| percent(of) + &of.interval.map(half).unwrap_or_default())
        });
    let left = comparison.differences.len() - rows.len();
    let more = (left > 0).then(|| format!("{} with --details", count(left, "more metric")));
    Table { remarks: more.into_iter().chain([same(comparison)]).collect(), ..table.finish() }
}

/// Decimals of the two values. Differences of a percent matter, so there is one digit more than in other tables.
pub fn digits(row: &Difference) -> usize {
    1 + decimals([row.a.value, row.b.value].into_iter().flatten())
}

pub fn title(row: &Difference) -> String {
    let metric = if row.metric.is_empty() { "without numbers" } else { &row.metric };
    format!("{} · {metric}{}{}", row.bench, in_unit(row.unit), direction(row.better))
}

pub fn label(row: &Difference) -> Label {
    Label::new(&row.b.nodes, &row.subject, &row.params)
}

/// One row per difference; rows of several metrics name each metric.
pub fn table(rows: &[&Difference]) -> Table {
    let is_mixed = rows.iter().any(|row| metric(row) != metric(rows[0]));
    let mut most_digits: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in rows {
        let known = most_digits.entry((&row.bench, &row.metric)).or_default();
        *known = digits(row).max(*known);
    }
    let side = |row: &Difference, value: Option<f64>| {
        Cell::number(value, most_digits[&(row.bench.as_str(), row.metric.as_str())])
    };
    let labels: Vec<Label> = rows.iter().map(|row| label(row)).collect();
    let table = if is_mixed {
        let names = names(rows);
        let mut next = names.iter();
        Builder::new("The worst first", rows)
            .words("metric", |row| Cell::from(row.metric.as_str()).detail(&row.bench))
            .column(Column::words("of").label(), |_| next.next().cloned())
    } else {
        Builder::new(rows.first().map_or(String::new(), |row| title(row)), rows).labels(&labels)
    };
    let of = |row: &Difference, said: &dyn Fn(&Change) -> String| row.change.as_ref().ok().map(said);
    let note = |row: &Difference| row.change.as_ref().map_or_else(|why| Some(why.clone()), why);
    let table = table
        // The result is never wrapped.
        .column(Column::words("verdict").unbroken(), |row| Cell::from(Call::of(row).badge()).notes(note(row)))
        .words("difference", |row| plot(row).map(Cell::from).unwrap_or_default())
        .numbers("before", |row| side(row, row.a.value))
        .numbers("after", |row| side(row, row.b.value))
        .numbers("change", |row| of(row, &percent))
        .numbers("95 % interval", |row| of(row, &interval))
        .column(Column::numbers("not seen below").detail(), |row| {
            of(row, &|of| of.smallest_percent.map_or(String::new(), |from| format!("±{}", percentage(from))))
        });
    let table = if is_mixed { table.words("in", |row| unit(row.unit).trim().to_owned()) } else { table };
    table
        .about(|row, about| {
            about.nodes.clone_from(&row.b.nodes);
            about.tone = Some(Call::of(row).badge().tone);
        })
        .finish()
}

fn plot(row: &Difference) -> Option<CellPlot> {
    let of = row.change.as_ref().ok()?;
    let turn =
        |(low, high): (f64, f64)| if row.better == Better::Lower { (-high, -low) } else { (low, high) };
    let gain = Gain { percent: gain(row)?, ci95: of.interval.map(turn), smallest: of.smallest_percent };
    let badge = Call::of(row).badge();
    let ends = of.interval.map(|_| format!(", 95 % interval {}", interval(of))).unwrap_or_default();
    let from =
        of.smallest_percent.map(|from| format!(", not seen below ±{}", percentage(from))).unwrap_or_default();
    let label = format!("{} {}: {}{ends}{from}", row.metric, badge.word, percent(of));
    Some(CellPlot::Gain { gain, tone: badge.tone, label })
}

/// The labels of rows of one benchmark: `n1 kernel=triad`.
pub fn names(rows: &[&Difference]) -> Vec<String> {
    let items: Vec<_> =
        rows.iter().map(|row| (row.bench.as_str(), label(row), row.b.nodes.as_slice())).collect();
    labels::names(&items)
}
