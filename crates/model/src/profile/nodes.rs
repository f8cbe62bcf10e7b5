//! Node sets in the folded form of Slurm and ssh tools: `n[01-16],head`.

use std::fmt;
use std::str::FromStr;

/// A set of node names, as written and unfolded. The empty text is the empty set.
///
/// `n[01-16]` counts from `n01` to `n16` keeping the width, `n[1,4-6]` lists, `r[1-2]n[1-4]` multiplies, commas
/// outside brackets join (hostlist of scontrol(1), without step and base syntax).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSet {
    text: String,
    names: Vec<String>,
}

/// Why a text is not a node set, as a fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeSetError {
    /// An unbalanced or nested bracket.
    #[error("'{text}' has an unbalanced bracket")]
    Bracket {
        /// The list element that cannot be read.
        text: String,
    },
    /// Nothing between two commas.
    #[error("'{text}' has an empty element: two commas in a row, or a comma at an end")]
    Empty {
        /// The node set as typed.
        text: String,
    },
    /// A range that is not two ascending numbers.
    #[error("'{range}' is not a range such as 1-16 or 01-16")]
    Range {
        /// The range that cannot be read.
        range: String,
    },
    /// A range with two dots, as other tools write it.
    #[error("'{text}' is not a node name: ranges are {range}")]
    Dots {
        /// The list element with the dots.
        text: String,
        /// The range in our form.
        range: String,
    },
    /// A character that no host name has.
    #[error("'{name}' is not a node name: letters, digits, '-', '_' and '.' only{}", instead(name))]
    Name {
        /// The node name that is refused.
        name: String,
    },
    /// A name longer than a host name can be.
    #[error("'{start}...' is not a node name: it is longer than {} characters", NodeSet::LONGEST_NAME)]
    Long {
        /// The first characters of the name that is too long.
        start: String,
    },
    /// A set so large that it must be a typo.
    #[error("'{text}' is more than {} nodes", NodeSet::MOST)]
    TooMany {
        /// The node set as typed.
        text: String,
    },
}

/// What was meant by a name with a blank or a slash.
fn instead(name: &str) -> String {
    match name {
        name if name.contains('/') => "; it looks like a file: name the nodes themselves".to_owned(),
        name if name.contains(' ') => {
            format!("; separate nodes by commas: {}", name.split_whitespace().collect::<Vec<_>>().join(","))
        }
        _ => String::new(),
    }
}

impl NodeSet {
    /// Most names of a set; the largest clusters have a fifth of this.
    pub const MOST: usize = 50_000;

    /// Longest name in characters (RFC 1035, 2.3.4), so that `n...n[1-50000]` does not fill the memory.
    pub const LONGEST_NAME: usize = 255;

    /// Every name once, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether `name` is in the set.
    pub fn contains(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl fmt::Display for NodeSet {
    /// The text as written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl FromStr for NodeSet {
    type Err = NodeSetError;

    fn from_str(text: &str) -> Result<Self, NodeSetError> {
        let text = text.trim().to_owned();
        let mut names = Vec::new();
        if text.is_empty() {
            return Ok(Self { text, names });
        }
        for element in split_outside_brackets(&text)? {
            if element.is_empty() {
                return Err(NodeSetError::Empty { text });
            }
            let room = Self::MOST - names.len();
            let more = expand(element, room)?.ok_or_else(|| NodeSetError::TooMany { text: text.clone() })?;
            names.extend(more);
        }
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        Ok(Self { text, names })
    }
}

fn split_outside_brackets(text: &str) -> Result<Vec<&str>, NodeSetError> {
    let mut elements = Vec::new();
    let (mut start, mut inside) = (0, false);
    for (at, character) in text.char_indices() {
        match (character, inside) {
            ('[', false) => inside = true,
            (']', true) => inside = false,
            ('[', true) | (']', false) => return Err(NodeSetError::Bracket { text: text.to_owned() }),
            (',', false) => {
                elements.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(NodeSetError::Bracket { text: text.to_owned() });
    }
    elements.push(text[start..].trim());
    Ok(elements)
}

/// The names of one element; `None` when they are more than `room`.
fn expand(element: &str, room: usize) -> Result<Option<Vec<String>>, NodeSetError> {
    if let Some((first, last)) = element.split_once("..") {
        let digits = |text: &str| text.trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned();
        let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
        let range = format!("{stem}[{}-{}]", &first[stem.len()..], digits(last));
        return Err(NodeSetError::Dots { text: element.to_owned(), range });
    }
    let mut names = vec![String::new()];
    let mut rest = element;
    while !rest.is_empty() {
        let (plain, behind) = rest.split_once('[').unwrap_or((rest, ""));
        if !plain.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
            return Err(NodeSetError::Name { name: plain.to_owned() });
        }
        if names.iter().any(|name| name.len() + plain.len() > NodeSet::LONGEST_NAME) {
            return Err(NodeSetError::Long { start: element.chars().take(20).collect() });
        }
        names.iter_mut().for_each(|name| name.push_str(plain));
        if plain.len() == rest.len() {
            break;
        }
        let (inner, behind) = behind.split_once(']').unwrap_or((behind, ""));
        let Some(numbers) = numbers(inner, room)? else { return Ok(None) };
        if names.len().saturating_mul(numbers.len()) > room {
            return Ok(None);
        }
        if let [number] = numbers.as_slice() {
            names.iter_mut().for_each(|name| name.push_str(number));
        } else {
            names = names
                .iter()
                .flat_map(|name| numbers.iter().map(move |number| format!("{name}{number}")))
                .collect();
        }
        rest = behind;
    }
    Ok((names.len() <= room).then_some(names))
}

/// The numbers inside a bracket, with leading zeros; `None` when more than `room`.
fn numbers(inner: &str, room: usize) -> Result<Option<Vec<String>>, NodeSetError> {
    let mut numbers = Vec::new();
    for range in inner.split(',').map(str::trim) {
        let wrong = || NodeSetError::Range { range: range.to_owned() };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        // Twenty digits hold every u64; more would only make long names.
        let is_number =
            |end: &str| (1..=20).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(first) || !is_number(last) {
            return Err(wrong());
        }
        let (from, to): (u64, u64) =
            (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        if from > to {
            return Err(wrong());
        }
        if to - from >= (room - numbers.len().min(room)) as u64 {
            return Ok(None);
        }
        let width = first.len();
        numbers.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Ok(Some(numbers))
}

crate::text_serde!(NodeSet, "A folded node set such as 'n[01-16],head'.");

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.parse::<NodeSet>().unwrap().names().map(str::to_owned).collect()
    }

    #[test]
    fn folds_open_with_their_leading_zeros() {
        assert_eq!(names("n[08-11]"), ["n08", "n09", "n10", "n11"]);
        assert_eq!(names("n[1,4-5]x, head"), ["n1x", "n4x", "n5x", "head"]);
        assert_eq!(names("r[1-2]n[3-4]"), ["r1n3", "r1n4", "r2n3", "r2n4"]);
        assert_eq!(names("a,a,a"), ["a"]);
        assert!(names("").is_empty());
    }

    #[test]
    fn holds_the_names_it_stands_for_and_no_others() {
        let set: NodeSet = "n[01-16]".parse().unwrap();
        assert!(set.contains("n07") && !set.contains("n7") && !set.contains("n17"));
    }

    #[test]
    fn refuses_what_is_no_node_set() {
        for text in [
            "n[1-",
            "n]1[",
            "n[[1]]",
            "n[2-1]",
            "n[a-b]",
            "n[]",
            "a,,b",
            "a,",
            "n 1",
            "n[1-99999999999999999999]",
        ] {
            assert!(text.parse::<NodeSet>().is_err(), "{text}");
        }
    }

    #[test]
    fn refuses_to_fill_the_memory() {
        for text in ["n[0-999999999999]", "a[1-1000]b[1-1000]", "x[1-50000],y", "n[1-40000,1-40000]"] {
            let error = text.parse::<NodeSet>().unwrap_err();
            assert!(matches!(error, NodeSetError::TooMany { .. }), "{text}: {error}");
        }
        assert_eq!(names("n[1-50000]").len(), NodeSet::MOST);
        for text in [format!("{}[1-50000]", "n".repeat(2000)), format!("[1-50000]{}", "[1]".repeat(780))] {
            assert!(matches!(text.parse::<NodeSet>(), Err(NodeSetError::Long { .. })), "{text}");
        }
    }
}
