//! Folds node names into a node set, the inverse of [`NodeSet`](super::NodeSet).

use std::collections::BTreeMap;

/// Most digits of a number that is folded; every such number fits a `u64`.
const MOST_DIGITS: usize = 18;

/// Names that differ only in their last number, by prefix, suffix and whether they have a number: `n` does not belong
/// to `n1` and `n2`.
type Families<'a> = BTreeMap<(&'a str, &'a str, bool), Vec<(u64, &'a str)>>;

/// `names` in folded form: `n[01-04,07],head`, each name once, in order.
pub fn fold(names: &[impl AsRef<str>]) -> String {
    let mut families = Families::new();
    for name in names.iter().map(AsRef::as_ref) {
        let (before, number, behind) = split(name);
        families
            .entry((before, behind, !number.is_empty()))
            .or_default()
            .push((number.parse().unwrap_or(0), number));
    }
    let folded = families.into_iter().map(|((before, behind, _), mut numbers)| {
        numbers.sort_unstable();
        numbers.dedup();
        match numbers.as_slice() {
            [(_, one)] => format!("{before}{one}{behind}"),
            _ => format!("{before}[{}]{behind}", runs(&numbers).join(",")),
        }
    });
    folded.collect::<Vec<_>>().join(",")
}

/// Prefix, last number and suffix of a name.
fn split(name: &str) -> (&str, &str, &str) {
    let Some(end) = name.rfind(|c: char| c.is_ascii_digit()).map(|at| at + 1) else { return (name, "", "") };
    let start = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| {
        // The character before the number may have several bytes.
        at + name[at..].chars().next().map_or(1, char::len_utf8)
    });
    if end - start > MOST_DIGITS {
        return (name, "", "");
    }
    (&name[..start], &name[start..end], &name[end..])
}

/// Ascending numbers in the width of the first, as ranges.
fn runs(numbers: &[(u64, &str)]) -> Vec<String> {
    let mut runs: Vec<(&str, u64, &str)> = Vec::new();
    for (value, text) in numbers {
        match runs.last_mut() {
            Some((first, last, end)) if *value == *last + 1 && is_next(first, *value, text) => {
                (*last, *end) = (*value, text);
            }
            _ => runs.push((text, *value, text)),
        }
    }
    let word = |(first, _, last): (&str, u64, &str)| {
        if first == last { first.to_owned() } else { format!("{first}-{last}") }
    };
    runs.into_iter().map(word).collect()
}

/// Whether a range that begins with `first` writes `value` as `text`.
fn is_next(first: &str, value: u64, text: &str) -> bool {
    let width = first.len();
    format!("{value:0width$}") == text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;
    use crate::profile::NodeSet;

    #[test]
    fn names_fold_by_their_last_number() {
        for (names, folded) in [
            (&["n01", "n02", "n03", "n07"][..], "n[01-03,07]"),
            (&["n9", "n10", "n8"], "n[8-10]"),
            (&["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
            (&["head", "n1", "n1"], "head,n1"),
            (&["n1.site", "n2.site"], "n[1-2].site"),
            (&["n1", "n01"], "n[01,1]"),
            (&["login2", "login", "login1"], "login,login[1-2]"),
            (&[], ""),
        ] {
            assert_eq!(fold(names), folded);
        }
    }

    fn config() -> ProptestConfig {
        ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn what_is_folded_opens_into_the_same_names(names in prop::collection::vec("[ab]{0,2}[0-9]{1,3}[c.]{0,1}|[ab]{1,2}c?", 1..40)) {
            let texts: Vec<&str> = names.iter().map(String::as_str).collect();
            let opened: NodeSet = fold(&texts).parse().unwrap();
            let opened: BTreeSet<&str> = opened.names().collect();
            prop_assert_eq!(opened, texts.into_iter().collect::<BTreeSet<_>>());
        }
    }
}
