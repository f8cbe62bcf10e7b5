//! Statistics of repeated measurements: what a set of numbers supports, and no more than that.
//!
//! The crate knows no benchmarks and no units and does no input or output. It takes slices of `f64` in one
//! unit, as **trials** of **samples**, `&[Vec<f64>]`: a trial is a fresh process with fresh memory, a sample
//! one observation inside it. Nothing here returns NaN or infinity; input that would cause one is an
//! [`Error`].
//!
//! ```
//! use seatrial_stats::{Stop, StopRule, Summary};
//!
//! let trials = [vec![10.1, 10.0, 10.2], vec![10.0, 9.9, 10.0], vec![10.1, 10.1, 10.3]];
//! let summary = Summary::of(&trials)?;
//! let interval = summary.ci95.expect("nine values in three trials");
//! assert_eq!(summary.median, 10.1);
//! assert!(interval.low < 10.0 && 10.1 < interval.high);
//! assert!(matches!(StopRule::default().decide(&trials)?, Stop::Converged { .. }));
//! # Ok::<(), seatrial_stats::Error>(())
//! ```
//!
//! # The model of measurement
//!
//! A number that a benchmark gives varies on two levels. Samples of one process scatter and are alike:
//! caches, clocks and queues carry over from one to the next. Processes differ among themselves: memory lies
//! elsewhere, a thread or a flow hashes differently; and no number of samples inside one process shows that.
//! Kalibera and Jones ("Rigorous Benchmarking in Reasonable Time", ISMM 2013) draw the conclusion: repeat at
//! the highest level that varies, and take the interval from that level.
//!
//! So [`Summary`] reports the **median** of all samples, which an interrupt does not move, with its raw MAD,
//! minimum, maximum, mean for reference, and a 95 % interval for the median ([`median_interval`]):
//!
//! - **Two trials or more**: Student's t over the trial medians. Whatever happens inside a trial, correlation
//!   included, is already in their scatter, so nothing about it has to be assumed or estimated. Two trials
//!   get a very wide interval (t = 12.7), which is what two values are worth; three is the sensible minimum.
//! - **One trial**: the order statistics around the median, with n replaced by n over the
//!   [`correlation_time`]. Such an interval speaks of that one process. Below 100 samples, or when they are
//!   worth fewer than six independent ones, there is none, because so few cannot show how they depend.
//! - **Fewer than six values in all**: none, however they are arranged.
//!
//! # What the interval holds
//!
//! Percentage of intervals that cover the true median, 20,000 repeats each. Samples are an autoregression of
//! lag-1 correlation rho; "between" is the deviation of the trials' own offsets over that of the samples.
//! Normal and lognormal samples agree within 0.2. All tables of this page come from
//! `cargo run --release -p seatrial-stats --example coverage`.
//!
//! | trials x samples | rho 0 | rho 0.5 | rho 0.9 | between 1 | between 3, rho 0.5 |
//! |---|---|---|---|---|---|
//! | 2 x 30 | 94.9 | 94.9 | 95.1 | 94.9 | 94.8 |
//! | 3 x 30 | 95.0 | 94.8 | 95.1 | 95.0 | 94.9 |
//! | 5 x 20 | 95.0 | 95.1 | 95.1 | 95.2 | 95.2 |
//! | 10 x 10 | 94.9 | 95.2 | 95.1 | 94.9 | 95.0 |
//! | 1 x 100 | 96.0 | 94.8 | 90.7 (none: 40 %) | | |
//! | 1 x 200 | 95.7 | 95.7 | 94.4 (none: 9 %) | | |
//! | 1 x 1000 | 95.4 | 95.6 | 95.4 | | |
//!
//! # Where it stops
//!
//! - One trial says nothing about the next process: with one trial the column "between" has no entry.
//! - One trial too short for its correlation (1 x 100 at rho 0.9) often gets no interval; those given are
//!   the ones whose correlation looked small by chance. Counted over all repeats, 5 to 7 % of them claim an
//!   interval that misses. Slow wander under white noise, where neighbours look nearly independent, is worse:
//!   about 11 % miss at 200 samples.
//! - Stopping when the interval is narrow costs coverage; the table is at [`StopRule`].
//! - Trials that drift together (a machine that heats up over the whole run) are not independent. Nothing
//!   here can see that in three of them; [`cuts`] of the trial medians can, in ten or more.
//! - Student's t supposes trial medians that are not wildly skewed. A bimodal machine shows as a wide
//!   interval and in [`modes`].
//!
//! # Telling two sets apart
//!
//! [`compare`] is Welch's t test on the logarithms of the trial medians, with two one-sided tests for "the
//! same". With samples of 0.3 % noise, rho 0.5, 20 a trial, and 20,000 repeats:
//!
//! | trials a side | equal sets called different | 1 % found: trials alike | differing by 0.1 % | by 0.3 % |
//! |---|---|---|---|---|
//! | 2 | 2.4 % | 69 % | 54 % | 20 % |
//! | 3 | 3.5 % | 100 % | 99.6 % | 70 % |
//! | 4 | 4.2 % | 100 % | 100 % | 92 % |
//! | 5 | 4.7 % | 100 % | 100 % | 98 % |
//! | 10 | 4.9 % | 100 % | 100 % | 100 % |
//!
//! Welch's test is cautious with so few trials. A test that assumes equal variances would find more with
//! three, and call up to one in nine equal sets different when only one side is noisy. Zero has no logarithm:
//! [`zero_split`] tells trials that are all zero from trials of which none is.
//!
//! # Looking into a series
//!
//! [`cuts`] finds the changes of level in a history of a few independent values, [`modes`] tells one cluster from two, and
//! [`knee`] finds the bend of a curve. [`shape`] says whether a rate levels off, falls or still grows with load,
//! [`scalability`] which law it follows, and [`paired_ratio`] what one thing is against another that was measured in turn
//! with it. Each states its source, its rule and how often it errs. Random orders, where a test needs them, come from a
//! fixed seed: equal input gives equal output. [`discoveries`] says which of many comparisons stand.

mod autocorrelation;
mod compare;
mod dip;
mod discovery;
mod division;
mod error;
mod exact;
mod input;
mod interval;
mod knee;
mod modes;
mod moments;
mod paired;
mod quantile;
mod random;
mod ranks;
mod scalability;
mod stop;
mod summary;
mod zeros;

pub use autocorrelation::correlation_time;
pub use compare::{Better, CompareRule, Comparison, Verdict, compare};
pub use discovery::discoveries;
pub use division::{CUT_LEVEL, Cut, FEWEST_TO_CUT, SHORTEST_STRETCH, cuts};
pub use error::Error;
pub use exact::fisher_exact;
pub use input::LARGEST;
pub use interval::{FEWEST_SAMPLES_ALONE, FEWEST_VALUES, Interval, median_interval};
pub use knee::{Bend, Knee, LEAST_BEND, knee};
pub use modes::{LEAST_SHARE, Mode, Modes, modes};
pub use moments::student_quantile;
pub use paired::{PairedRatio, paired_ratio};
pub use quantile::{Sorted, median};
pub use random::{Random, mix};
pub use scalability::{FALLEN, GROWING, LoadPoint, SATURATED, Scalability, Shape, scalability, shape};
pub use stop::{Stop, StopRule};
pub use summary::Summary;
pub use zeros::{ZeroSplit, zero_split};
