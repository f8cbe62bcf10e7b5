//! The cost of a rate, by the prices of a profile.

use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Better, Finding, Price, Quantity, Severity, Unit};
use seatrial_report::TextStyle;
use seatrial_report::terminal::{Content, TerminalContext};

use super::scripted::{case, metric};
use super::{fixture, page_of};

fn priced(interface: &str, rate: f64, price: f64) -> (CaseRecord, Finding) {
    let mut record = case("net.tcp_stream", &["n1", "n2"], fixture::params(&[("interface", interface)]));
    let throughput = metric(Unit::GigabitsPerSecond, Better::Higher, rate, fixture::limit(10.0));
    record.metrics.insert("throughput".to_owned(), throughput);
    let finding = Finding {
        case: Some(record.case.to_string()),
        value: Quantity::new(price / rate, Unit::PerGigabitPerSecond).ok(),
        ci95: Some((price / rate * 0.99, price / rate * 1.01)),
        price: Some(Price {
            amount: price,
            currency: "EUR".to_owned(),
            devices: format!("a nic for {price} EUR"),
        }),
        evidence: vec!["throughput".to_owned()],
        ..Finding::new("cost", Severity::Info, record.subject.clone(), "what the card costs")
    };
    (record, finding)
}

fn document() -> Document {
    let (results, findings) = [priced("eth0", 9.4, 94.0), priced("eth1", 0.94, 4.7)].into_iter().unzip();
    let mut document = fixture::document(&["n1", "n2"], results);
    document.findings = findings;
    document
}

#[test]
fn the_cheapest_rate_comes_first_in_the_table_of_prices() {
    let context = TerminalContext { folder: None, abouts: &[], next: &[], content: Content::Details };
    let text = seatrial_report::terminal::render(&document(), &context, TextStyle::default());
    let rows: Vec<&str> =
        text.lines().skip_while(|line| !line.contains("cost of the throughput")).skip(3).collect();
    let notes = text.contains("[1]  a nic for 4.7 EUR") && text.contains("[2]  a nic for 94 EUR");
    assert!(notes, "{text}");
    let cells = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(cells(rows[0]), "eth1 0.940 4.70 [1] 5.00 0.00500 100%", "{text}");
    assert_eq!(cells(rows[1]), "eth0 9.400 94.0 [2] 10.00 0.01000 200%", "{text}");
    assert!(!text.contains("what the card costs"), "the table has it: {text}");
}

#[test]
fn the_page_draws_the_cost_of_every_case() {
    let page = page_of(&document());
    assert!(page.contains("Cost of the throughput") && page.contains("EUR per Gbit/s"));
    assert!(page.contains("0.0050 EUR per Mbit/s"), "the bar of eth1 says its number");
}
