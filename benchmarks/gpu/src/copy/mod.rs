//! Copies in rounds: a benchmark declares for each of its cells what every stream copies; the rounds queue the copies, time
//! them by events, emit their samples and set how many copies fill the next slice.

mod cells;
mod flow;
mod split;
mod starter;

pub use cells::{CopyCells, CopyRounds, SliceRun};
pub use flow::{CopyError, Flow, Piece, Queue, SliceTimes, TimedStream};
pub use split::{MOST_QUEUED, PIECES, Split};
pub use starter::Starter;
