//! Says why a statistic was refused, in words that name the sample at fault.

/// Why an input or a rule was rejected.
///
/// Indices count from zero. A function that takes one series instead of trials reports it as trial 0.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The outer slice is empty.
    #[error("no trial to take statistics of")]
    NoTrials,
    /// A trial has no samples. Leave such a trial out and say that it failed; it is not a zero.
    #[error("trial {trial} holds no sample")]
    EmptyTrial { trial: usize },
    /// A sample is NaN or infinite.
    #[error("sample {sample} of trial {trial} is {value}, not a finite number")]
    NotFinite {
        trial: usize,
        /// Which sample of it.
        sample: usize,
        value: f64,
    },
    /// A sample is larger in magnitude than [`LARGEST`](crate::LARGEST).
    #[error("sample {sample} of trial {trial} is {value}, beyond the ±1e100 that can be squared and summed")]
    TooLarge {
        trial: usize,
        /// Which sample of it.
        sample: usize,
        value: f64,
    },
    /// A relative comparison met a trial whose median is zero, negative or below 1e-100.
    #[error("the median of trial {trial} is {median}: a relative difference needs medians above zero")]
    NotPositive {
        /// Which trial, in the set that was at fault.
        trial: usize,
        median: f64,
    },
    /// A probability outside 0 to 1 was asked for.
    #[error("quantile {value} was asked for, a probability lies between 0 and 1")]
    Probability { value: f64 },
    /// A rule's setting makes no sense.
    #[error("{setting} = {value} is not usable: it must be {wanted}")]
    Setting {
        setting: &'static str,
        value: f64,
        /// What would be accepted.
        wanted: &'static str,
    },
    /// The two axes of a curve differ in length.
    #[error("a curve of {x} positions has {y} heights")]
    UnequalAxes { x: usize, y: usize },
    /// The positions of a curve do not rise from each point to the next.
    #[error("position {index} of the curve does not lie above the one before it")]
    NotRising {
        /// The first position at fault.
        index: usize,
    },
}
