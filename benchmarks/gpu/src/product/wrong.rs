//! A wrong sum, in words: where, which bits, on which multiprocessor, and what a repeat gave.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongSum {
    /// Row and column.
    pub place: (u64, u64),
    /// The word of 8 bytes that holds it, and what the first product had there.
    pub found: u64,
    pub expected: u64,
    /// Whether the whole word is the sum, not one half.
    pub is_long: bool,
    /// Number of the multiprocessor that computed it, where that is known.
    pub processor: Option<u32>,
    /// The same word of a repeat; none where all sums of the repeat were right.
    pub again: Option<u64>,
}

impl fmt::Display for WrongSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place: (row, column), found, expected, is_long, processor, again } = *self;
        let bits = found ^ expected;
        let bits = match (is_long, bits as u32) {
            (true, _) => format!("{bits:#018x}"),
            (false, 0) => format!("{:#010x}", (bits >> 32) as u32),
            (false, low) => format!("{low:#010x}"),
        };
        let by = processor.map(|number| format!(", computed by multiprocessor {number}")).unwrap_or_default();
        let repeat = match again {
            None => "a repeat was right",
            Some(again) if again == found => "a repeat gave this sum again",
            Some(again) if again == expected => "a repeat was wrong in another place",
            Some(_) => "a repeat gave a third sum",
        };
        write!(
            f,
            "the sum in row {row}, column {column} is not that of the first product of the same numbers: bits {bits} \
             differ{by}; {repeat}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_sum_and_the_repeat_is_told() {
        let wrong = WrongSum {
            place: (3, 5),
            found: 7 << 32 | 1,
            expected: 5 << 32 | 1,
            is_long: false,
            processor: Some(17),
            again: None,
        };
        assert_eq!(
            wrong.to_string(),
            "the sum in row 3, column 5 is not that of the first product of the same numbers: bits 0x00000002 differ, \
             computed by multiprocessor 17; a repeat was right"
        );
        let repeat = |again: u64| WrongSum { again: Some(again), ..wrong }.to_string();
        assert!(repeat(7 << 32 | 1).ends_with("; a repeat gave this sum again"));
        assert!(repeat(5 << 32 | 1).ends_with("; a repeat was wrong in another place"));
        assert!(repeat(6 << 32 | 1).ends_with("; a repeat gave a third sum"));
        let of_library = WrongSum { is_long: true, processor: None, ..wrong }.to_string();
        assert!(of_library.ends_with("bits 0x0000000200000000 differ; a repeat was right"), "{of_library}");
    }
}
