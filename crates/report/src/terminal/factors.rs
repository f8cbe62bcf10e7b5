//! What each factor of a study is worth: a row a factor, beside the baseline that it was taken from.

use seatrial_analysis::{Factors, Worth};
use seatrial_model::record::Document;
use seatrial_model::{Better, Params, Unit};

use crate::grid::{self, Column};
use crate::ink::Ink;
use crate::notes::Notes;
use crate::number::decimals;
use crate::words::{self, clean, count};

/// Studies at most; of more the first are shown.
const MOST_STUDIES: usize = 12;

/// One block a subject that factors were studied on.
pub fn blocks(document: &Document, notes: &mut Notes, width: u16) -> Vec<String> {
    let studies = seatrial_analysis::factors(&document.results);
    let shown = studies.iter().take(MOST_STUDIES);
    let mut blocks: Vec<String> =
        shown.map(|study| of_study(study, notes, width) + &notes.flush(width)).collect();
    if studies.len() > MOST_STUDIES {
        let more = count(studies.len() - MOST_STUDIES, "more study of factors");
        blocks.push(Ink::Faint.on(&format!(" {more}, in the JSON form")) + "\n");
    }
    blocks
}

fn of_study(study: &Factors, notes: &mut Notes, width: u16) -> String {
    let unit = if study.unit == Unit::Count { String::new() } else { format!(" in {}", study.unit) };
    let place = format!("{} of {}", study.subject, study.nodes.join("+"));
    let title = format!("{} · {place} · {}{unit} · what each factor is worth", study.bench, study.metric);
    let mut text = format!("{}\n", Ink::Strong.on(&clean(&title)));
    text += &grid::fitted(&columns(study, notes), width);
    let ratio = match study.better {
        Better::Lower => "without the factor over with it",
        Better::Higher | Better::None => "with the factor over without it",
    };
    let lots = study.seed.map(|seed| format!(" (seed {seed})")).unwrap_or_default();
    let remark = format!(
        "gain is the ratio {ratio}, within each of {}, whose order was drawn by lot{lots}",
        count(study.repeats, "repeat")
    );
    text + &grid::wrapped(&remark, width)
}

fn columns(study: &Factors, notes: &mut Notes) -> Vec<Column> {
    let worths = &study.worths;
    let decimals = decimals(worths.iter().filter_map(|worth| worth.value).chain(study.value));
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.decimals$}"));
    let cells = |text: &dyn Fn(&Worth) -> String| worths.iter().map(text).collect::<Vec<_>>();
    let params = |params: &Params| clean(&params.to_string().replace(',', " "));
    let gain = |worth: &Worth| worth.gain.map_or(String::new(), |gain| format!("{:.3}", gain.ratio));
    let interval = |worth: &Worth| match worth.gain.map(|gain| gain.ci95) {
        Some(Some(interval)) => format!("{:.3} to {:.3}", interval.low, interval.high),
        Some(None) => "±?".to_owned(),
        None => String::new(),
    };
    let mut outcome = |worth: &Worth| {
        let note = worth.reason.as_deref().map(|reason| format!(" {}", notes.refer(reason)));
        worth.outcome.map_or(String::new(), |outcome| words::outcome(outcome) + &note.unwrap_or_default())
    };
    let outcomes = worths.iter().map(&mut outcome).collect();
    let mut columns = vec![
        Column::words("with", cells(&|worth| params(&worth.with))),
        Column::words("without", cells(&|worth| params(&worth.without))),
        Column::numbers("with", cells(&|_| number(study.value))),
        Column::numbers("without", cells(&|worth| number(worth.value))),
        Column::numbers("gain", cells(&gain)),
        Column::numbers("95 %", cells(&interval)),
        Column::words("outcome", outcomes),
    ];
    columns.retain(|column| !column.is_empty());
    columns
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Outcome, Subject};
    use seatrial_stats::{Interval, PairedRatio};

    use super::*;
    use crate::Style;
    use crate::ink::render_colors;

    fn worth(name: &str, with: u64, without: u64, gain: Option<(f64, f64)>) -> Worth {
        let one = |value: u64| -> Params { [(name.to_owned(), value.into())].into_iter().collect() };
        let ratio = |(ratio, half): (f64, f64)| PairedRatio {
            ratio,
            ci95: (half > 0.0).then_some(Interval { low: ratio - half, high: ratio + half }),
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
        };
        let mut notes = Notes::default();
        let text = of_study(&study, &mut notes, 80) + &notes.flush(80);
        let expected = "\
net.tcp_stream · n1->n2 of n1+n2 · throughput in Gbit/s · what each factor is worth
 with     without  with  without   gain            95 %  outcome
─────────────────────────────────────────────────────────────────────
 flows=4  flows=1  9.40     5.22  1.800  1.750 to 1.850
 depth=8  depth=1  9.40     9.39  1.001              ±?
 port=2   port=3   9.40                                  ✗ failed [1]
 gain is the ratio with the factor over without it, within each of 6 repeats,
 whose order was drawn by lot (seed 1)
 [1]  reset by peer
";
        assert_eq!(render_colors(&text, Style::Plain), expected);
    }
}
