//! The raw samples of a case as a `data:` link: works without script and network.

use std::fmt::Write;

use seatrial_model::record::CaseRecord;

use super::words::fixed;
use crate::csv::guarded;

/// Bytes of samples per page.
pub const MOST: usize = 1_200_000;

/// Bytes of samples per case.
const MOST_OF_CASE: usize = 96_000;

#[derive(Clone, Debug)]
pub struct Download {
    pub name: String,
    pub url: String,
    pub size: String,
}

/// The samples of `case` as CSV, or the message shown instead when they are too many or in another place. `left` is
/// the number of bytes that still fit into the page.
pub fn samples(case: &CaseRecord, number: &str, left: &mut usize) -> Result<Download, String> {
    let elsewhere = || match case.metrics.values().find_map(|metric| metric.samples_file.as_deref()) {
        Some(file) => format!("Its samples are in {file} of the run folder."),
        None => "Its samples are in the run folder.".to_owned(),
    };
    if case.metrics.is_empty() {
        return Err(String::new());
    }
    let csv = csv(case).ok().flatten().ok_or_else(elsewhere)?;
    let url = url(&csv);
    if url.len() > MOST_OF_CASE.min(*left) {
        return Err(elsewhere());
    }
    *left -= url.len();
    Ok(Download {
        name: format!("{number}-samples.csv"),
        url,
        size: format!("{} kB", fixed((csv.len() as f64 / 1e3).ceil(), 0)),
    })
}

/// One row per sample; `None` if the record has no samples.
fn csv(case: &CaseRecord) -> csv::Result<Option<Vec<u8>>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["metric", "unit", "trial", "sample", "value"])?;
    let mut has_any = false;
    for (name, metric) in &case.metrics {
        for (trial, samples) in metric.samples.iter().flatten().enumerate() {
            for (sample, value) in samples.iter().enumerate() {
                has_any = true;
                let numbers = [trial.to_string(), sample.to_string(), value.to_string()];
                writer.write_record(
                    [guarded(name).into_owned(), metric.unit.to_string()].iter().chain(&numbers),
                )?;
            }
        }
    }
    let text = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(has_any.then_some(text))
}

/// A `data:` address (RFC 2397).
fn url(csv: &[u8]) -> String {
    let mut url = String::from("data:text/csv;charset=utf-8,");
    for byte in csv {
        if byte.is_ascii_alphanumeric() || b"-._~,/".contains(byte) {
            url.push(char::from(*byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_are_no_further_fields() {
        assert_eq!(url(b"\"a,\",1\n"), "data:text/csv;charset=utf-8,%22a,%22,1%0A");
    }
}
