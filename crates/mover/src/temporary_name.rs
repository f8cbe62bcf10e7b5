//! The name of a file until it is complete.

/// Beginning and end of the name of a file that is not complete.
const PREFIX: &str = ".seatrial-copy-";
const SUFFIX: &str = ".part";

/// Digits of the hash between them.
const DIGITS: usize = 32;

/// The name, in the same directory, under which the file `name` is written until it is complete: the same for every copy, so
/// that the next copy finds what an interrupted one left.
pub fn temporary_name(name: &[u8]) -> String {
    format!("{PREFIX}{}{SUFFIX}", &blake3::hash(name).to_hex()[..DIGITS])
}

/// Whether [`temporary_name`] makes such names.
pub fn is_temporary(name: &[u8]) -> bool {
    let hash = name.strip_prefix(PREFIX.as_bytes()).and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    hash.is_some_and(|hash| hash.len() == DIGITS && hash.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_is_recognised_and_another_is_not() {
        let name = temporary_name(b"a\nname");
        assert!(is_temporary(name.as_bytes()) && name == temporary_name(b"a\nname"));
        assert_ne!(name, temporary_name(b"another"));
        for other in ["", ".seatrial-copy-.part", "file.part", &name[1..]] {
            assert!(!is_temporary(other.as_bytes()), "{other}");
        }
    }
}
