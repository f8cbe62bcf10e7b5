//! Patterns with `*` as the only special character, since case ids are full of brackets.

/// Whether all of `text` matches `pattern`, where `*` matches any text, also empty text.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let tail = pieces.pop().unwrap_or_default();
    for piece in pieces {
        // The leftmost match leaves the most for the other pieces.
        let Some(at) = text.find(piece) else { return false };
        text = &text[at + piece.len()..];
    }
    text.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "mem.bandwidth"),
            ("mem.*", "mem.bandwidth"),
            ("*band*", "mem.bandwidth"),
            ("*kernel=triad*", "mem.bandwidth@n1/node[kernel=triad]"),
            ("a*b*c", "a-b-b-c"),
            ("**", "x"),
            ("n1", "n1"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn the_whole_text_has_to_fit() {
        for (pattern, text) in
            [("", "x"), ("n1", "n10"), ("*n1", "n10"), ("n1*", "an1"), ("ab*ba", "aba"), ("a*b*c", "a-c-b")]
        {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
