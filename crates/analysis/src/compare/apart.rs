//! What tells the sides of a comparison apart: parameters or settings that are constant in each side.

use std::collections::{BTreeMap, BTreeSet};

use super::{ComparedCases, Comparison};

/// More parameters or settings than these do not fit a legend.
const MOST_NAMES: usize = 2;

/// What tells sides apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// Parameters with one value in every side, which differs between sides.
    pub params: BTreeSet<String>,
    /// A text for each side, such as `mtu=1500`; `None` where nothing short tells each side from all others.
    pub texts: Option<Vec<String>>,
}

/// What tells `sides` apart; `comparisons` are those of the first side with each of the others.
pub fn apart(sides: &[ComparedCases<'_>], comparisons: &[Comparison]) -> Apart {
    let params = params(sides);
    let texts = texts(sides.len(), &params).or_else(|| texts(sides.len(), &settings(sides, comparisons)));
    Apart { params: params.into_keys().collect(), texts }
}

/// By name, a value of each side.
type Values = BTreeMap<String, Vec<String>>;

fn texts(sides: usize, values: &Values) -> Option<Vec<String>> {
    if values.is_empty() || values.len() > MOST_NAMES {
        return None;
    }
    let text = |side: usize| {
        let told = values.iter().filter_map(|(name, values)| Some(format!("{name}={}", values.get(side)?)));
        told.collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..sides).map(text).collect();
    (texts.iter().collect::<BTreeSet<_>>().len() == sides).then_some(texts)
}

fn params(sides: &[ComparedCases<'_>]) -> Values {
    let mut names: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
    for (side, cases) in sides.iter().enumerate() {
        for (name, value) in cases.cases.iter().flat_map(|case| case.params.iter()) {
            let values = names.entry(name.to_owned()).or_insert_with(|| vec![BTreeSet::new(); sides.len()]);
            values[side].insert(value.to_string());
        }
    }
    let constant = names.into_iter().filter_map(|(name, values)| {
        let values: Vec<String> =
            values.into_iter().map(|values| only(values.into_iter())).collect::<Option<_>>()?;
        values.iter().any(|value| *value != values[0]).then_some((name, values))
    });
    constant.collect()
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Settings and parts of the machines with one value on all nodes of each run.
fn settings(sides: &[ComparedCases<'_>], comparisons: &[Comparison]) -> Values {
    let all = || comparisons.iter().flat_map(|comparison| &comparison.changed);
    let names: BTreeSet<&str> = all().map(|changed| changed.what.as_str()).collect();
    let values = |what: &str| {
        let before = only(
            all()
                .filter(|changed| changed.what == what)
                .map(|changed| &changed.before)
                .collect::<BTreeSet<_>>()
                .into_iter(),
        )?;
        let after = comparisons.iter().zip(&sides[1..]).map(|(comparison, side)| {
            let own = || comparison.changed.iter().filter(|changed| changed.what == what);
            let on: BTreeSet<&String> = own().flat_map(|changed| &changed.nodes).collect();
            let is_of_all = side.cases.iter().flat_map(|case| &case.nodes).all(|node| on.contains(node));
            match own().map(|changed| &changed.after).collect::<BTreeSet<_>>() {
                own if own.is_empty() => Some(before.clone()),
                own if is_of_all => only(own.into_iter()).cloned(),
                _ => None,
            }
        });
        [Some(before.clone())].into_iter().chain(after).collect::<Option<Vec<String>>>()
    };
    names.into_iter().filter_map(|what| Some((what.to_owned(), values(what)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Changed;

    fn changed(what: &str, after: &str) -> Changed {
        let nodes = vec!["n1".to_owned()];
        Changed { what: what.to_owned(), before: "1500".to_owned(), after: after.to_owned(), nodes }
    }

    #[test]
    fn runs_with_the_same_parameters_are_told_apart_by_the_setting_that_changed() {
        let comparison =
            |changed: &[Changed]| Comparison { changed: changed.to_vec(), ..Comparison::default() };
        let sides = vec![ComparedCases::default(); 3];
        let mtu = [comparison(&[changed("nic.mtu", "6000")]), comparison(&[changed("nic.mtu", "9000")])];
        let texts = ["nic.mtu=1500", "nic.mtu=6000", "nic.mtu=9000"].map(str::to_owned).to_vec();
        assert_eq!(apart(&sides, &mtu).texts, Some(texts));
        let alike = [comparison(&[changed("nic.mtu", "9000")]), comparison(&[changed("nic.mtu", "9000")])];
        assert_eq!(apart(&sides, &alike).texts, None, "two of three runs have the same MTU");
        let unsure = [
            comparison(&[changed("nic.mtu", "6000"), changed("nic.mtu", "9000")]),
            comparison(&[changed("nic.mtu", "9000")]),
        ];
        assert_eq!(apart(&sides, &unsure).texts, None, "the nodes of one run have two MTUs");
        let cases = ["n1", "n2"].map(crate::judge::fixture::measured);
        let sides = vec![ComparedCases::all(&cases); 2];
        assert_eq!(apart(&sides, &mtu[1..]).texts, None, "n2 has 1500 in both runs");
    }
}
