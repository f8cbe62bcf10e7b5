//! Trees of files as text, as the fixtures of machines have them: `== PATH` and the contents, or `== PATH -> TARGET`.

use seatrial_sys::root::Tree;

/// What parts a reading of counters from the next one.
const NEXT: &[u8] = b"== next\n";

/// The paths and contents in `input`, which holds nothing before the first of them.
pub fn files(input: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    let mut rest = input.strip_prefix(b"== ").unwrap_or_default();
    std::iter::from_fn(move || {
        let (path, behind) = split(rest, b"\n")?;
        let (contents, next) = split(behind, b"\n== ").unwrap_or((behind, b""));
        // The line break in front of the next path belongs to the contents.
        let contents = behind.get(..contents.len() + usize::from(!next.is_empty())).unwrap_or(contents);
        rest = next;
        Some((std::str::from_utf8(path).unwrap_or_default(), contents))
    })
}

/// The tree of `input`.
pub fn tree(input: &[u8]) -> Tree {
    let mut tree = Tree::default();
    for (path, contents) in files(input) {
        match path.split_once(" -> ") {
            Some((path, target)) => tree.link(path, target),
            None => tree.file(path, contents),
        }
    }
    tree
}

/// Two trees, one for each of two readings; the same one where `input` holds only one.
pub fn two_trees(input: &[u8]) -> (Tree, Tree) {
    let (first, second) = split(input, NEXT).unwrap_or((input, input));
    (tree(first), tree(second))
}

/// What stands before and behind the first `mark`.
pub fn split<'a>(text: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(mark.len()).position(|window| window == mark)?;
    Some((&text[..at], &text[at + mark.len()..]))
}
