//! `cost`: the cost of a rate, by the prices of a profile.

use seatrial_model::profile::{PriceRule, PriceShare, Profile, Requirement};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Price, Quantity, Severity, Unit};

use super::about;
use super::bond_worth::interfaces;
use crate::number::{quantity, significant};

const METRIC: &str = "throughput";

/// The cost of the throughput of every case whose subject has a price. The last rule that fits a subject counts:
/// later rules are more specific. For a connection it is the price of the interface at its first end, or of all that the case
/// uses together, members of a bond or rails, with the share that each has of a switch.
pub fn cost_findings(profile: &Profile, records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().filter_map(|case| of_case(profile, case)).collect()
}

fn of_case(profile: &Profile, case: &CaseRecord) -> Option<Finding> {
    let fitting = || profile.prices.iter().rev().filter(|price| Requirement::selects(&price.on, &case.facts));
    let price = fitting().find(|price| price.share.is_none())?;
    let metric = case.metrics.get(METRIC)?;
    let rate = Quantity::new(metric.median, metric.unit).ok()?.to(Unit::GigabitsPerSecond).ok()?.value();
    if rate <= 0.0 {
        return None;
    }
    let mut shares: Vec<(&PriceShare, &PriceRule)> = Vec::new();
    for rule in fitting().filter(|rule| rule.currency == price.currency) {
        if let Some(share) =
            rule.share.as_ref().filter(|share| shares.iter().all(|(own, _)| own.of != share.of))
        {
            shares.push((share, rule));
        }
    }
    let PriceRule { amount, currency, .. } = price;
    let source =
        |rule: &PriceRule| rule.source.as_ref().map_or_else(String::new, |source| format!(" ({source})"));
    let what = case.facts.text("kind").unwrap_or("device");
    let mut bought = format!("a {what} for {} {currency}{}", significant(*amount), source(price));
    let mut each = *amount;
    for (PriceShare { of, ports }, rule) in shares {
        each += rule.amount / *ports as f64;
        bought +=
            &format!(", 1/{ports} of a {of} for {} {currency}{}", significant(rule.amount), source(rule));
    }
    let count = interfaces(case).1.max(1);
    let (together, carries) = if count > 1 {
        (format!("{count} times "), format!(", together {} {currency},", significant(each * count as f64)))
    } else {
        (String::new(), String::new())
    };
    let price = Price {
        amount: each * count as f64,
        currency: currency.clone(),
        devices: format!("{together}{bought}"),
    };
    let per_gbit = price.amount / rate;
    // The interval of the rate, the other way round.
    let per_end = |end: f64| per_gbit * metric.median / end;
    let ci95 = metric.ci95.filter(|(low, _)| *low > 0.0).map(|(low, high)| (per_end(high), per_end(low)));
    let text = format!(
        "{}{carries} that carries {} Gbit/s costs {} {currency} per Gbit/s, {} {currency} per Mbit/s",
        price.devices,
        significant(rate),
        significant(per_gbit),
        significant(per_gbit / 1e3),
    );
    let finding = Finding::new("cost", Severity::Info, case.subject.clone(), text);
    let value = quantity(per_gbit, Unit::PerGigabitPerSecond);
    Some(about(
        case,
        Finding { value, ci95, price: Some(price), evidence: vec![METRIC.to_owned()], ..finding },
    ))
}

#[cfg(test)]
mod tests {
    use seatrial_model::Params;

    use super::*;
    use crate::judge::fixture::{measured, metric, no_limit, params};

    fn price(on: &[(&str, &str)], amount: f64) -> PriceRule {
        PriceRule { on: params(on), amount, share: None, currency: "USD".to_owned(), source: None }
    }

    /// A card of 10 Gbit/s that carried 1.175 GB/s.
    fn case() -> CaseRecord {
        let mut case = measured("n1");
        case.facts = params(&[("kind", "nic"), ("speed", "10 Gbit/s")]);
        case.metrics.insert(METRIC.to_owned(), metric(1.175, (1.17, 1.18), no_limit()));
        case
    }

    #[test]
    fn a_price_over_what_was_measured_is_told_per_gigabit_and_per_megabit() {
        let prices =
            vec![price(&[("kind", "nic")], 50.0), price(&[("kind", "nic"), ("speed", "10 Gbit/s")], 94.0)];
        let profile = Profile { prices, ..Profile::default() };
        let found = cost_findings(&profile, &[case()]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.kind.as_str(), finding.severity), ("cost", Severity::Info));
        let wanted = "a nic for 94 USD that carries 9.4 Gbit/s costs 10 USD per Gbit/s, 0.01 USD per Mbit/s";
        assert_eq!(finding.text, wanted);
        let value = finding.value.expect("a number");
        assert_eq!(
            (value.unit().to_string(), (value.value() * 1e9).round() / 1e9),
            ("per Gbit/s".to_owned(), 10.0)
        );
        assert_eq!(finding.node.as_deref(), Some("n1"));
        let (low, high) = finding.ci95.expect("an interval");
        assert!((low - 10.0 * 1.175 / 1.18).abs() < 1e-9 && (high - 10.0 * 1.175 / 1.17).abs() < 1e-9);
        let price = finding.price.as_ref().expect("a price");
        assert_eq!(
            (price.amount, price.currency.as_str(), price.devices.as_str()),
            (94.0, "USD", "a nic for 94 USD")
        );
    }

    #[test]
    fn a_bond_costs_what_its_members_cost_with_their_ports_of_the_switch() {
        let share = Some(PriceShare { of: "switch".to_owned(), ports: 24 });
        let prices =
            vec![price(&[("kind", "nic")], 40.0), PriceRule { share, ..price(&[("kind", "nic")], 1440.0) }];
        let profile = Profile { prices, ..Profile::default() };
        let mut bond = case();
        let one = cost_findings(&profile, &[bond.clone()])[0].text.clone();
        let wanted = "a nic for 40 USD, 1/24 of a switch for 1440 USD that carries 9.4 Gbit/s costs 10.64 USD per Gbit/s";
        assert!(one.starts_with(wanted), "{one}");
        bond.facts.set("type", "bond");
        bond.facts.set("members", 2_u64);
        let two = &cost_findings(&profile, &[bond])[0];
        assert!(
            two.text.starts_with("2 times a nic for 40 USD") && two.text.contains("together 200 USD"),
            "{}",
            two.text
        );
        assert!(two.value.is_some_and(|value| (value.value() - 200.0 / 9.4).abs() < 1e-9));
    }

    #[test]
    fn what_has_no_price_or_no_rate_costs_nothing_that_we_know_of() {
        let only = |prices| Profile { prices, ..Profile::default() };
        assert_eq!(cost_findings(&only(vec![price(&[("kind", "disk")], 1.0)]), &[case()]), []);
        assert_eq!(cost_findings(&only(Vec::new()), &[case()]), []);
        let mut without = case();
        without.metrics.clear();
        let any = only(vec![price(&[("kind", "nic")], 1.0)]);
        assert_eq!(cost_findings(&any, &[without]), []);
        let mut bare = case();
        bare.facts = Params::default();
        assert_eq!(cost_findings(&any, &[bare]), []);
    }
}
