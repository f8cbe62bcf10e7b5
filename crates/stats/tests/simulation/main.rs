//! Proves the promises of the crate on simulated measurements whose truth is known; all seeds are fixed.

mod comparison;
mod coverage;
mod false_alarms;
mod noise;
mod paired;
