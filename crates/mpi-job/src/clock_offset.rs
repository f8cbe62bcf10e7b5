//! The clock of a rank against that of rank 0: their nodes have clocks of their own.

use seatrial_model::{Nanos, Sample};
use seatrial_sys::clock::now_ns;
use seatrial_sys::mpi::{Communicator, MpiError};

/// Tag of the messages.
const CLOCK: u16 = 103;

/// Round trips with each rank; the shortest counts.
const ROUND_TRIPS: usize = 16;

/// What is added to a time of this rank for the time of rank 0. Known to half of the shortest round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset(i64);

impl ClockOffset {
    /// Compares the clock of each rank with that of rank 0, where they are on several nodes; all ranks call this.
    pub fn measure(world: &Communicator<'_>, several_nodes: bool) -> Result<Self, MpiError> {
        if !several_nodes {
            return Ok(Self::default());
        }
        let mut word = [0; 8];
        if world.rank() == 0 {
            for rank in 1..world.size() {
                for _ in 0..ROUND_TRIPS {
                    world.receive(&mut word, rank, CLOCK)?;
                    world.send(&now_ns().to_le_bytes(), rank, CLOCK)?;
                }
            }
            return Ok(Self::default());
        }
        let mut shortest = Option::<(u64, i64)>::None;
        for _ in 0..ROUND_TRIPS {
            let before = now_ns();
            world.send(&word, 0, CLOCK)?;
            world.receive(&mut word, 0, CLOCK)?;
            let trip = (now_ns() - before, offset(before, u64::from_le_bytes(word), now_ns()));
            shortest = Some(shortest.map_or(trip, |known| known.min(trip)));
        }
        Ok(Self(shortest.map_or(0, |(_, offset)| offset)))
    }

    pub fn apply(self, sample: &mut Sample) {
        let at_rank_0 = |time: Nanos| Nanos(time.get().saturating_add_signed(self.0));
        (sample.start, sample.end) = (at_rank_0(sample.start), at_rank_0(sample.end));
    }
}

/// The offset where rank 0 read `there` in the middle between two moments of this rank.
fn offset(before: u64, there: u64, after: u64) -> i64 {
    there.wrapping_sub(before.midpoint(after)).cast_signed()
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Params, Quantity};

    use super::*;

    #[test]
    fn a_sample_gets_the_times_of_rank_0() {
        assert_eq!((offset(1000, 500, 1200), offset(1000, 5100, 1200)), (-600, 4000));
        let span = (Nanos(1000), Nanos(3000));
        let mut sample = Sample::new("x", Params::default(), span, Quantity::count(1));
        ClockOffset(offset(1000, 500, 1200)).apply(&mut sample);
        assert_eq!((sample.start, sample.end), (Nanos(400), Nanos(2400)));
    }
}
