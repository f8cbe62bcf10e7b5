//! What tells the benchmarks of one kind apart.

use seatrial_bench::verbs::Method;

pub trait HasMethod {
    /// The verb, and how the far end learns of a message.
    const METHOD: Method;
}
