//! `-p NAME=V1,V2`.

use std::collections::BTreeMap;

use seatrial_model::About;
use seatrial_model::name::{did_you_mean, nearest};

use crate::error::CliError;

/// Parses `NAME=V1,V2` texts; the same name twice adds values.
pub fn parse(typed: &[String]) -> Result<BTreeMap<String, Vec<String>>, CliError> {
    let mut params: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for text in typed {
        let (name, values) = text.split_once('=').ok_or_else(|| {
            CliError::Usage(format!(
                "-p {text}: a parameter is given as NAME=VALUE, or NAME=V1,V2 for a sweep"
            ))
        })?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if name.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(CliError::Usage(format!("-p {text}: the name or a value is empty")));
        }
        params.entry(name.trim().to_owned()).or_default().extend(values);
    }
    Ok(params)
}

/// The parameters that each of several benchmarks has; an error if none has a parameter.
pub fn share_out(
    params: &BTreeMap<String, Vec<String>>,
    abouts: &[&'static About],
) -> Result<Vec<BTreeMap<String, Vec<String>>>, CliError> {
    if let [_] = abouts {
        // The engine's error names the benchmark.
        return Ok(vec![params.clone()]);
    }
    for name in params.keys() {
        if abouts.iter().all(|about| about.param(name).is_none()) {
            let known = abouts.iter().flat_map(|about| about.params).map(|spec| spec.name);
            let near = nearest(name, known).map(str::to_owned);
            let text = format!("none of these benchmarks has a parameter '{name}'{}", did_you_mean(&near));
            return Err(CliError::Usage(text));
        }
    }
    let of = |about: &&'static About| {
        params
            .iter()
            .filter(|(name, _)| about.param(name).is_some())
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect()
    };
    Ok(abouts.iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_values_make_a_sweep_and_names_add_up() {
        let params = parse(&["kernel=copy, triad".to_owned(), "kernel=read".to_owned()]).unwrap();
        assert_eq!(params["kernel"], ["copy", "triad", "read"]);
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        for text in ["kernel", "=copy", "kernel=", "kernel=copy,,triad"] {
            assert!(parse(&[text.to_owned()]).is_err(), "{text}");
        }
    }
}
