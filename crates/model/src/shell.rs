//! Words of command lines that are offered to the user.

/// A word, quoted where a shell would interpret it: words come from profiles and device names too. A bracket is a glob
/// pattern, about which zsh complains when no file matches, and `=` at the beginning is the path of a program in zsh.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
