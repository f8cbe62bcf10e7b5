//! The numbers: one table per group of cases, and one per study of factors.

use seatrial_model::record::{CaseRecord, Document};

use super::series::{self, Series};
use super::table;
use crate::ink::Ink;
use crate::notes::Notes;
use crate::view::nodes::is_fleet;
use crate::view::{cases, factors, over_nodes, setting_gains, waterfall};
use crate::words::count;

/// With more cases only the first piece of a table is shown; for a fleet one row per question.
const MOST_CASES: usize = 24;

/// Of more cases of a group the page has them.
const MOST_WATERFALLS: usize = 4;

const MOST_STUDIES: usize = 12;

/// One block per group of `shown` cases: title, numbers, notes, series.
pub fn blocks(
    document: &Document,
    shown: &[&CaseRecord],
    which: Series,
    notes: &mut Notes,
    width: u16,
) -> Vec<String> {
    let verdicts = cases::verdicts(document);
    let mut block = |(_, group): &(&str, Vec<&_>)| {
        let over_all = group.len() > MOST_CASES && is_fleet(document);
        let (text, series) = if over_all {
            let mut table = over_nodes::table(group);
            table.remarks.push("each node and every metric: in the CSV and JSON forms".to_owned());
            (table::text(table, MOST_CASES, notes, width), String::new())
        } else {
            let mut table = cases::table(group, &verdicts);
            if group.len() > MOST_CASES {
                table.pieces = 1;
            }
            let lost = if group.len() > MOST_WATERFALLS { String::new() } else { waterfalls(group, width) };
            (table::text(table, usize::MAX, notes, width), lost + &series::text(group, which, width))
        };
        for limit in cases::limits(group) {
            // A verdict may have given the reason already.
            let reason = limit.split_once(": ").map_or(limit.as_str(), |(_, reason)| reason);
            if !notes.tell(reason) {
                notes.remark(&limit);
            }
        }
        text + &notes.flush(width) + &series
    };
    cases::groups(shown).iter().map(&mut block).collect()
}

fn waterfalls(cases: &[&CaseRecord], width: u16) -> String {
    let tables = cases.iter().filter_map(|case| waterfall::table(case));
    tables
        .map(|found| "\n".to_owned() + &table::block(found, usize::MAX, &mut Notes::default(), width))
        .collect()
}

pub fn of_factors(document: &Document, notes: &mut Notes, width: u16) -> Vec<String> {
    let studies = seatrial_analysis::factors(&document.results);
    let shown = studies.iter().take(MOST_STUDIES);
    let tables =
        shown.flat_map(|study| std::iter::once(factors::table(study)).chain(factors::interactions(study)));
    let mut blocks: Vec<String> = tables.map(|table| table::block(table, usize::MAX, notes, width)).collect();
    if studies.len() > MOST_STUDIES {
        let more = count(studies.len() - MOST_STUDIES, "more study of factors");
        blocks.push(Ink::Faint.on(&format!(" {more}, in the JSON form")) + "\n");
    }
    blocks
}

pub fn of_settings(document: &Document, notes: &mut Notes, width: u16) -> Vec<String> {
    let studies = seatrial_analysis::setting_studies(&document.results);
    let shown = &studies[..studies.len().min(MOST_STUDIES)];
    let tables = setting_gains::tables(shown).into_iter();
    let mut blocks: Vec<String> = tables.map(|table| table::block(table, usize::MAX, notes, width)).collect();
    if studies.len() > MOST_STUDIES {
        let more = count(studies.len() - MOST_STUDIES, "more study of settings");
        blocks.push(Ink::Faint.on(&format!(" {more}, in the JSON form")) + "\n");
    }
    blocks
}

#[cfg(test)]
mod tests {
    use seatrial_analysis::{
        FactorInteraction, Factors, SettingEffect, SettingGain, SettingStudy, SettingWorth, Worth,
    };
    use seatrial_model::{Better, Outcome, Params, Subject, Unit};
    use seatrial_stats::{Interval, PairedRatio};

    use super::*;
    use crate::Style;
    use crate::ink::render_colors;

    fn worth(name: &str, with: u64, without: u64, gain: Option<(f64, f64)>) -> Worth {
        let one = |value: u64| -> Params { [(name.to_owned(), value.into())].into_iter().collect() };
        let ratio = |(ratio, half): (f64, f64)| PairedRatio {
            ratio,
            ci95: (half > 0.0).then_some(Interval { low: ratio - half, high: ratio + half }),
            p: None,
        };
        Worth {
            factor: name.to_owned(),
            with: one(with),
            without: one(without),
            value: gain.map(|(gain, _)| 9.4 / gain),
            gain: gain.map(ratio),
            pairs: 6,
            reason: gain.is_none().then(|| "reset by peer".to_owned()),
            outcome: gain.is_none().then_some(Outcome::Failed),
        }
    }

    #[test]
    fn a_row_a_factor_with_its_gain_and_interval() {
        let study = Factors {
            group: "net.tcp_stream".to_owned(),
            bench: "net.tcp_stream".to_owned(),
            nodes: vec!["n1".to_owned(), "n2".to_owned()],
            subject: "n1->n2".parse().unwrap_or_else(|_| Subject::node()),
            params: Params::default(),
            metric: "throughput".to_owned(),
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            value: Some(9.4),
            repeats: 6,
            seed: Some(1),
            worths: vec![
                worth("flows", 4, 1, Some((1.8, 0.05))),
                worth("depth", 8, 1, Some((1.001, 0.0))),
                worth("port", 2, 3, None),
            ],
            interactions: vec![FactorInteraction {
                factors: ["flows=1".to_owned(), "depth=1".to_owned()],
                values: [Some(5.22), Some(9.39), Some(4.1)],
                ratio: Some(PairedRatio {
                    ratio: 0.786,
                    ci95: Some(Interval { low: 0.772, high: 0.801 }),
                    p: None,
                }),
                repeats: 6,
                reason: None,
                outcome: None,
            }],
        };
        let mut notes = Notes::default();
        let text = table::block(factors::table(&study), usize::MAX, &mut notes, 80);
        let expected = "\
net.tcp_stream · n1->n2 of n1+n2 · throughput · gain of each factor · in Gbit/s
 with     without  with  without   gain            95 %  outcome
─────────────────────────────────────────────────────────────────────
 flows=4  flows=1  9.40     5.22  1.800  1.750 to 1.850
 depth=8  depth=1  9.40     9.39  1.001              ±?
 port=2   port=3   9.40                                  ✗ failed [1]
 gain is the ratio with the factor over without it, within each of 6 repeats in
 random order (seed 1)
 [1]  reset by peer
";
        assert_eq!(render_colors(&text, Style::Plain), expected);
        let crossed = factors::interactions(&study).expect("crossed factors");
        let text = table::block(crossed, usize::MAX, &mut notes, 100);
        let expected = "\
net.tcp_stream · n1->n2 of n1+n2 · throughput · interaction of two factors · in Gbit/s
 first    second   with both  without first  without second  without both  interaction            95 %  gains
────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 flows=1  depth=1       9.40           5.22            9.39          4.10        0.786  0.772 to 0.801  smaller
                                                                                                        together
 interaction is the gain of the first factor with the second one, over its gain without the second;
 1: the gains multiply
";
        assert_eq!(render_colors(&text, Style::Plain), expected);
    }

    fn gain(setting: &str, before: &str, worth: SettingWorth) -> SettingGain {
        let effect = |metric: &str| SettingEffect {
            metric: metric.to_owned(),
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            values: [Some(109.12), Some(110.73)],
            gain: Some(PairedRatio {
                ratio: 1.015,
                ci95: Some(Interval { low: 0.998, high: 1.032 }),
                p: Some(0.07),
            }),
            blocks: 6,
            worth,
        };
        let is_lost = worth == SettingWorth::Nothing;
        SettingGain {
            setting: setting.to_owned(),
            before: before.to_owned(),
            effect: effect("throughput"),
            side_effects: vec![effect("cpu_per_gbit_of_receiver")],
            of_blocks: 6,
            reason: is_lost.then(|| "reset by peer".to_owned()),
            outcome: is_lost.then_some(Outcome::Failed),
        }
    }

    #[test]
    fn the_gains_of_settings_fit_into_80_columns_and_no_name_or_value_is_cut() {
        let study = SettingStudy {
            group: "net.tcp_stream".to_owned(),
            bench: "net.tcp_stream".to_owned(),
            nodes: vec!["n1".to_owned(), "n2".to_owned()],
            subject: "n1->n2".parse().unwrap_or_else(|_| Subject::node()),
            metric: "throughput".to_owned(),
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            seed: 1,
            gains: vec![
                gain("net.ipv4.tcp_rmem=4KiB,16KiB,16KiB", "4 KiB, 128 KiB, 32 MiB", SettingWorth::Nothing),
                gain(
                    "cpu.energy_performance_preference=performance",
                    "balance_performance",
                    SettingWorth::Hurts,
                ),
            ],
        };
        let mut notes = Notes::default();
        let tables = setting_gains::tables(&[study]).into_iter();
        let text: String = tables.map(|found| table::block(found, usize::MAX, &mut notes, 80)).collect();
        let text = render_colors(&text, Style::Plain);
        insta::assert_snapshot!(text);
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{long:#?}");
    }
}
