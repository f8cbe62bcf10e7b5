//! What a rank does: tells its times, and checks that the job is the one that was started.

use seatrial_bench::Stop;
use seatrial_model::{Integrity, Phase, Reason, Sample};
use seatrial_mpi_job::{Moment, Program, RankJob, refused, step};
use seatrial_sys::mpi::Reduction;
use serde_json::Value;

use crate::comparison::Comparison;

/// The channels of samples of a rank: from the start of its process until it may load the library, loading, and MPI_Init.
pub const WAITING: &str = "waiting";
pub const LOAD: &str = "load";
pub const INIT: &str = "init";

/// The program of a rank.
pub fn start<'a>(_: &Value, job: RankJob<'a>) -> Result<Box<dyn Program + 'a>, Reason> {
    Ok(Box::new(Startup(job)))
}

struct Startup<'a>(RankJob<'a>);

impl Program for Startup<'_> {
    fn run(&mut self, _: Phase, _: &Stop) -> Result<Vec<Sample>, Reason> {
        let (rank, times) = (self.0.world.rank(), self.0.times);
        let steps = [(WAITING, times.waiting), (LOAD, times.load), (INIT, times.init)];
        Ok(steps.map(|(channel, span)| step(channel, rank, span)).into())
    }

    /// Numbers of ranks and their sum, all of which a float holds exactly.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        let RankJob { world, hook, .. } = self.0;
        let (rank, size) = (world.rank(), world.size());
        let mut sums = [rank as f32, 1.0];
        hook(Moment::FilledElements(rank, &mut sums));
        world.all_reduce_in_place(&mut sums, Reduction::Sum).map_err(refused)?;
        let mut found = Comparison::default();
        let wanted = [(size * (size - 1) / 2) as f32, size as f32];
        for (number, (sum, wanted)) in sums.iter().zip(wanted).enumerate() {
            found.word(size_of::<f32>(), *sum == wanted, || {
                format!("rank {rank}, element {number} of the sum over {size} ranks: {sum}, not {wanted}")
            });
        }
        Ok(found.integrity())
    }
}
