//! A matrix of numbers: named rows and columns, and the distance of each number from the median.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::{Better, Unit};
use seatrial_stats::median;

use super::table::{Builder, Cell, Column, Table};
use crate::number::{decimals, whole_percent};
use crate::words::{count, unit};

/// Steps of distance on either side of the median.
const STEPS: f64 = 4.0;

/// The smallest distance for the farthest step, as a share of the median: noise is not shown.
const STRONGEST: f64 = 0.05;

#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub title: String,
    /// The kinds of rows and columns.
    pub names: (String, String),
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// By row and column.
    pub values: BTreeMap<(usize, usize), MatrixValue>,
    /// The cases that have no number.
    pub missing: BTreeMap<(usize, usize), MissingValue>,
    pub unit: Unit,
    pub better: Better,
    pub note: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MatrixValue {
    pub value: f64,
    pub more: String,
    pub case: Option<String>,
}

/// A case without a number.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingValue {
    /// How the case ended.
    pub word: &'static str,
    pub case: String,
}

impl Matrix {
    /// What the words in place of numbers say; `None` without such words.
    pub fn legend(&self) -> Option<String> {
        let words: BTreeSet<&str> = self.missing.values().map(|missing| missing.word).collect();
        let words: Vec<&str> = words.into_iter().collect();
        let number = count(self.missing.len(), "pair");
        let pairs = self.rows.len() * self.columns.len().saturating_sub(1);
        let open = if self.values.len() + self.missing.len() < pairs { "; empty: not tried" } else { "" };
        (!words.is_empty()).then(|| format!("{}: {number} without a number{open}", words.join(", ")))
    }

    pub fn decimals(&self) -> usize {
        decimals(self.values.values().map(|value| value.value))
    }

    /// The median of its numbers; zero without numbers.
    pub fn median(&self) -> f64 {
        let values: Vec<f64> = self.values.values().map(|value| value.value).collect();
        median(&values).unwrap_or(0.0)
    }

    /// The kinds of rows and columns, for the corner.
    pub fn corner(&self) -> String {
        format!("{} ↓  {} →", self.names.0, self.names.1)
    }

    pub fn table(&self) -> Table {
        let decimals = self.decimals();
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let first = Column::numbers(self.corner());
        let mut table = Builder::new(&self.title, &rows).column(first, |row| self.rows[*row].as_str());
        for (column, name) in self.columns.iter().enumerate() {
            let cell = |row: &usize| {
                let at = (*row, column);
                match (self.values.get(&at), self.missing.get(&at)) {
                    (None, Some(missing)) => Cell::from(missing.word).case(missing.case.as_str()),
                    (value, _) => Cell::number(value.map(|value| value.value), decimals),
                }
            };
            table = table.column(Column::numbers(name), cell);
        }
        let table = table.whole();
        Table { remarks: self.legend().into_iter().collect(), ..table }
    }

    /// Full text about the number at `at`; `median` is that of the matrix.
    pub fn detail(&self, at: (usize, usize), median: f64) -> String {
        let Some(found) = self.values.get(&at) else { return String::new() };
        let number = format!("{:.*}{}", self.decimals(), found.value, unit(self.unit));
        let off = if median == 0.0 { 0.0 } else { (found.value - median) / median.abs() };
        let side = if off < 0.0 { "below" } else { "above" };
        let share = whole_percent(100.0 * off.abs());
        let off = if off.abs() < 0.001 { String::new() } else { format!(", {share} {side} the median") };
        let more = if found.more.is_empty() { String::new() } else { format!(" · {}", found.more) };
        format!("{} → {}: {number}{off}{more}", self.rows[at.0], self.columns[at.1])
    }

    /// The step of `value` away from `median`: above zero on the good side, four at the farthest.
    pub fn step(&self, value: f64, median: f64) -> i8 {
        let widest = self.values.values().map(|other| (other.value - median).abs()).fold(0.0, f64::max);
        let strongest = widest.max(STRONGEST * median.abs());
        let part = if strongest > 0.0 { (value - median) / strongest } else { 0.0 };
        (STEPS * if self.better == Better::Lower { -part } else { part }).round() as i8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(values: &[f64], better: Better) -> Matrix {
        let value = |value: &f64| MatrixValue { value: *value, more: String::new(), case: None };
        Matrix {
            title: String::new(),
            names: Default::default(),
            rows: Vec::new(),
            columns: Vec::new(),
            values: values.iter().enumerate().map(|(at, number)| ((0, at), value(number))).collect(),
            missing: BTreeMap::new(),
            unit: Unit::Count,
            better,
            note: String::new(),
        }
    }

    #[test]
    fn noise_is_no_step_and_the_bad_side_is_that_of_the_metric() {
        let steps = |values: &[f64], better| {
            let matrix = matrix(values, better);
            values.iter().map(|value| matrix.step(*value, matrix.median())).collect::<Vec<_>>()
        };
        assert_eq!(steps(&[100.0, 100.1, 99.9], Better::Higher), [0, 0, 0]);
        assert_eq!(steps(&[9.4, 9.41, 4.7], Better::Higher), [0, 0, -4]);
        assert_eq!(steps(&[2.0, 2.0, 4.0], Better::Lower), [0, 0, -4]);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert!((matrix(&[100.0, 400.0, 200.0, 300.0], Better::Higher).median() - 250.0).abs() < 1e-9);
    }
}
