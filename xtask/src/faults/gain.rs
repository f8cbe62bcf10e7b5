//! The gain that a report predicts, and the one that healing brings.

use std::fmt;

use serde_json::Value;

/// The number of the gaining cases without the cause, over the number with it.
pub struct Gained {
    predicted: f64,
    cases: Vec<String>,
    measured: Option<f64>,
}

/// The measured gain lies within this share of the predicted one.
const NEAR: f64 = 0.2;

impl Gained {
    /// The first prediction about `node`.
    pub fn of(findings: &[&Value], node: &str) -> Option<Self> {
        let mut own = findings.iter().filter(|finding| finding["node"] == *node);
        own.find_map(|finding| {
            let cases = finding["gain"]["cases"].as_array()?.iter().filter_map(Value::as_str);
            let predicted = finding["gain"]["factor"].as_f64()?;
            Some(Self { predicted, cases: cases.map(str::to_owned).collect(), measured: None })
        })
    }

    /// Takes the gain from the same cases of two runs.
    pub fn compare(&mut self, faulty: &Value, healed: &Value) {
        let median = |document: &Value| {
            let results = document["results"].as_array()?.iter();
            let own = results.filter(|result| self.cases.iter().any(|case| result["case"] == **case));
            let number = |result: &Value| result["metrics"][result["headline"].as_str()?]["median"].as_f64();
            let mut values: Vec<f64> = own.filter_map(number).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        self.measured = median(healed).zip(median(faulty)).map(|(healed, faulty)| healed / faulty);
    }
}

impl fmt::Display for Gained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(measured) = self.measured else { return write!(f, "{:.2}", self.predicted) };
        let is_near = (measured / self.predicted - 1.0).abs() <= NEAR;
        write!(f, "{:.2}, {measured:.2} measured: {}", self.predicted, if is_near { "near" } else { "far" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_gain_of_the_named_cases_is_held_against_the_prediction() {
        let finding = json!({ "node": "n3", "gain": { "factor": 4.0, "cases": ["a", "b", "c"] } });
        let mut gained = Gained::of(&[&json!({ "node": "n3" }), &finding], "n3").expect("a prediction");
        assert_eq!(gained.to_string(), "4.00");
        let document = |values: [f64; 4]| {
            let result = |(case, value): (&str, f64)| json!({ "case": case, "headline": "rate", "metrics": { "rate": { "median": value } } });
            let results: Vec<Value> = ["a", "b", "c", "d"].into_iter().zip(values).map(result).collect();
            json!({ "results": results })
        };
        gained.compare(&document([1.0, 1.1, 0.9, 9.0]), &document([4.5, 4.4, 3.0, 9.0]));
        assert_eq!(gained.to_string(), "4.00, 4.40 measured: near");
        gained.compare(&document([1.0, 1.1, 0.9, 9.0]), &document([2.0, 2.1, 1.9, 9.0]));
        assert_eq!(gained.to_string(), "4.00, 2.00 measured: far");
        assert!(Gained::of(&[&finding], "n2").is_none());
    }
}
