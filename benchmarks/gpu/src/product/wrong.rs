//! A wrong sum, in words: where, which bits, on which multiprocessor, and what a repeat gave.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongSum {
    /// Row and column.
    pub place: (u64, u64),
    /// The word of 8 bytes that holds it, and what the first product had there.
    pub found: u64,
    pub expected: u64,
    /// Number of the multiprocessor that computed it.
    pub processor: u32,
    /// The same word of a repeat; none where all sums of the repeat were right.
    pub again: Option<u64>,
}

impl fmt::Display for WrongSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place: (row, column), found, expected, processor, again } = *self;
        let bits = found ^ expected;
        let bits = if bits as u32 == 0 { (bits >> 32) as u32 } else { bits as u32 };
        let repeat = match again {
            None => "a repeat was right",
            Some(again) if again == found => "a repeat gave this sum again",
            Some(again) if again == expected => "a repeat was wrong in another place",
            Some(_) => "a repeat gave a third sum",
        };
        write!(
            f,
            "the sum in row {row}, column {column} is not that of the first product of the same numbers: bits {bits:#010x} \
             differ, computed by multiprocessor {processor}; {repeat}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_sum_and_the_repeat_is_told() {
        let wrong =
            WrongSum { place: (3, 5), found: 7 << 32 | 1, expected: 5 << 32 | 1, processor: 17, again: None };
        assert_eq!(
            wrong.to_string(),
            "the sum in row 3, column 5 is not that of the first product of the same numbers: bits 0x00000002 differ, \
             computed by multiprocessor 17; a repeat was right"
        );
        let repeat = |again: u64| WrongSum { again: Some(again), ..wrong }.to_string();
        assert!(repeat(7 << 32 | 1).ends_with("; a repeat gave this sum again"));
        assert!(repeat(5 << 32 | 1).ends_with("; a repeat was wrong in another place"));
        assert!(repeat(6 << 32 | 1).ends_with("; a repeat gave a third sum"));
    }
}
