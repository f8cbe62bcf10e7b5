//! Refuses text that nests too deep, before the TOML parser reads it.
//!
//! The parser bounds brackets and the dots of one key separately. Their product is still thousands of levels, and the
//! parser is recursive: 13 kB of `a.a.a={a.a.a={` overflow the stack. No profile needs more than four brackets or two
//! dots.

const MOST_OPEN: usize = 16;

const MOST_DOTS: usize = 16;

/// The position of the first bracket, brace or dot that nests too deep; `None` for text that is safe to parse. Reads
/// strings and comments as TOML does, and errs on the safe side in broken text: a closing bracket without a match
/// closes nothing here, since the parser may have skipped it.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut open, mut dots, mut at) = (Vec::new(), 0, 0);
    // A quote inside a bare word starts no string.
    let mut in_word = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' if !in_word => {
                at = behind_string(bytes, at);
                continue;
            }
            b'#' => {
                at = find(bytes, at, |byte| matches!(byte, b'\r' | b'\n'));
                in_word = false;
                continue;
            }
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b']' | b'}' if open.last() == Some(&byte) => drop(open.pop()),
            b'.' => dots += 1,
            _ => {}
        }
        in_word = !b".=,[]{} \t\r\n".contains(&byte);
        if matches!(byte, b'[' | b'{' | b'=' | b',' | b'\n') {
            dots = 0;
        }
        if open.len() > MOST_OPEN || dots > MOST_DOTS {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The position after the string that starts at `at`. An unclosed string ends as the parser ends it: at the end of
/// the line, or of the text when it has three quotes.
fn behind_string(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let is_triple = |at: usize| bytes[at..].starts_with(&[quote; 3]);
    let long = is_triple(at);
    let mut at = at + if long { 3 } else { 1 };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' && matches!(bytes.get(at + 1), Some(b'\\' | b'"')) => at += 1,
            b'\n' if !long => return at,
            _ if byte == quote && !long => return at + 1,
            // Up to two more quotes belong to the string when it has three at its ends.
            _ if long && is_triple(at) => return find(bytes, at + 3, |byte| byte != quote).min(at + 5),
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn find(bytes: &[u8], from: usize, is_wanted: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|byte| is_wanted(*byte)).map_or(bytes.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use toml::de::{DeTable, DeValue};

    use super::*;

    /// The deepest that a checked text can be: a header, and at every bracket the dots of a key.
    const DEEPEST: usize = (MOST_OPEN + 1) * (MOST_DOTS + 2);

    fn depth_of(value: &DeValue<'_>) -> usize {
        match value {
            DeValue::Array(items) => 1 + items.iter().map(|item| depth_of(item.get_ref())).max().unwrap_or(0),
            DeValue::Table(table) => table_depth(table),
            _ => 0,
        }
    }

    fn table_depth(table: &DeTable<'_>) -> usize {
        1 + table.values().map(|value| depth_of(value.get_ref())).max().unwrap_or(0)
    }

    #[test]
    fn finds_brackets_braces_and_dots() {
        assert_eq!(too_deep(&"[".repeat(200_000)), Some(MOST_OPEN));
        assert_eq!(too_deep(&format!("a={}", "{a=".repeat(70_000))), Some(2 + 3 * MOST_OPEN));
        assert_eq!(too_deep(&format!("a{} = 1", ".a".repeat(100_000))), Some(1 + 2 * MOST_DOTS));
    }

    #[test]
    fn the_product_of_dots_and_braces_is_refused() {
        let key = "a.".repeat(70) + "a={";
        assert!(too_deep(&key.repeat(70)).is_some());
    }

    #[test]
    fn a_closing_bracket_that_does_not_match_closes_nothing() {
        assert!(too_deep(&"{]".repeat(50)).is_some());
        assert!(too_deep(&"a = [}\n".repeat(50)).is_some());
    }

    #[test]
    fn strings_comments_and_ordinary_text_are_left_alone() {
        let brackets = "[".repeat(50);
        for text in [
            format!("a = \"{brackets}\""),
            format!("a = '{brackets}'"),
            format!("a = \"\"\"\n{brackets}\\\"\"\"\"\"\"\nb = 1"),
            format!("a = '''\n{brackets}'''"),
            format!("# {brackets}"),
            format!("a = \"\\\"{brackets}\""),
            "a = [1.5, 2.5]\n".repeat(100),
            "[a.b.c]\n".repeat(100),
        ] {
            assert_eq!(too_deep(&text), None, "{text}");
        }
    }

    #[test]
    fn brackets_behind_a_string_count_again() {
        for text in [
            "a = \"x\" ",
            "a = '''x''''' ",
            "a = \"\"\"x\"\" \"\"\"\"\" ",
            "a = \"unclosed\n",
            "a = \"\\\n",
            "#\r",
            "x\"",
        ] {
            let text = format!("{text}{}", "[".repeat(50));
            assert!(too_deep(&text).is_some(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]
        #[test]
        fn what_is_let_through_stays_shallow(text in "(\\[|\\]|\\{|\\}|\"|'|\\\\|\n|\r|\\.|a|=|#|,|a=\\{|a\\.a=| ){0,300}") {
            if too_deep(&text).is_none() {
                let (table, _) = DeTable::parse_recoverable(&text);
                prop_assert!(table_depth(table.get_ref()) <= DEEPEST);
            }
        }
    }
}
