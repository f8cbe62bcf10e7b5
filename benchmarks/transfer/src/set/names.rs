//! Names of files and directories.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Beginnings of hard names: what scripts and movers get wrong.
const HARD: [&[u8]; 10] = [
    b"plain ",
    b" two  spaces ",
    b"new\nline ",
    b"-rf ",
    "\u{fc}ml\u{e4}ut \u{6587}\u{4ef6} ".as_bytes(),
    b"quote ' \" ` $HOME ",
    b"star * [a-z] ? ",
    b"no utf-8 \xff\xfe ",
    b"back\\slash \t tab ",
    b"#comment; true & false ",
];

/// The longest name of most file systems in bytes.
const LONGEST: usize = 255;

/// The name of the file or directory of this number, which no other number has.
pub fn name(number: u64, is_hard: bool) -> OsString {
    if !is_hard {
        return format!("file{number:07}").into();
    }
    let kind = number as usize % (HARD.len() + 1);
    let mut bytes = HARD.get(kind).copied().unwrap_or_default().to_vec();
    bytes.extend(number.to_string().into_bytes());
    if kind == HARD.len() {
        bytes.resize(LONGEST, b'x');
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_its_own_and_one_that_a_file_system_takes() {
        for is_hard in [false, true] {
            let names: BTreeSet<Vec<u8>> = (0..2000).map(|number| name(number, is_hard).into_vec()).collect();
            assert_eq!(names.len(), 2000);
            for name in names {
                assert!(
                    !name.is_empty() && name.len() <= LONGEST && !name.contains(&b'/') && !name.contains(&0)
                );
            }
        }
    }
}
