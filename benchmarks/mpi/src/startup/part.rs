//! The parts of a case, which start one job after the other.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use seatrial_bench::{Part, Prepared, Running, Sink, Stop};
use seatrial_model::{Case, Integrity, Params, PartPlacement, Phase, Quantity, Reason, Sample};
use seatrial_mpi_job::worker::{count_nodes, follow, lead, spec, tell_job};
use seatrial_mpi_job::{CONNECTIONS, HostLink, Job, JobSpec, NodeEnd};
use serde_json::Value;

use super::ID;
use super::plan::per_node_counts;

/// The channel of samples from the start of a launcher to its end.
pub const LAUNCHER: &str = "launcher";

pub fn part(case: &Case, place: &PartPlacement) -> Part {
    Part::new(case, place, |case, place| {
        let counts = per_node_counts(case)?.into_iter().map(|count| count as usize);
        // The first job finds the files of library and launcher outside the page cache, and does not count.
        let mut jobs: Vec<usize> = counts.collect();
        jobs.insert(0, jobs[0]);
        let of_node = jobs.iter().map(|of_job| CONNECTIONS + of_job).sum();
        if place.index > 0 {
            return follow(case, place, of_node, move |streams| StartFollower::start(streams, &jobs));
        }
        let (spec, time) = (spec(ID, case, place, ())?, case.params.nanos("time")?.into());
        let mut starter = Starter { spec, jobs, links: Vec::new(), time, found: Vec::new() };
        if count_nodes(case) > 1 {
            let spec = starter.spec.clone();
            return lead(case, place, spec, of_node, move |spec, streams| {
                let of_jobs = split(streams, &starter.jobs).into_iter().zip(&starter.jobs);
                let links = of_jobs.map(|(of_job, count)| HostLink::of_streams(of_job, CONNECTIONS + count));
                starter.links = links.collect();
                starter.spec = spec;
                Ok(starter)
            });
        }
        Ok(Prepared::new(place, Value::Null, |_| Ok(starter))?.with_peers(Vec::new()))
    })
}

/// The connections of each of `jobs`, which have so many ranks on each node; `streams` are those of all jobs, node by node.
fn split<T>(streams: Vec<T>, jobs: &[usize]) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> = jobs.iter().map(|_| Vec::new()).collect();
    let mut streams = streams.into_iter().peekable();
    while streams.peek().is_some() {
        for (of_job, count) in all.iter_mut().zip(jobs) {
            of_job.extend(streams.by_ref().take(CONNECTIONS + count));
        }
    }
    all
}

/// The part that starts the jobs.
struct Starter {
    /// The largest job.
    spec: JobSpec,
    /// Ranks on each node of the jobs, in their order.
    jobs: Vec<usize>,
    /// The other nodes of each job.
    links: Vec<Vec<HostLink>>,
    time: Duration,
    found: Vec<Integrity>,
}

/// A job in the order of all.
#[derive(Clone, Copy)]
struct JobTurn {
    /// Ranks on each node.
    of_node: usize,
    /// `None` of the job that does not count.
    round: Option<u64>,
}

impl Starter {
    fn job(&mut self, turn: JobTurn, links: Vec<HostLink>, out: &mut dyn Sink) -> Result<(), Reason> {
        let nodes = self.spec.hosts.names.len();
        let of_node = self.spec.cpus.len() / nodes;
        let cpus = self.spec.cpus.chunks(of_node).flat_map(|own| own[..turn.of_node].to_vec());
        let spec = JobSpec { ranks: turn.of_node * nodes, cpus: cpus.collect(), ..self.spec.clone() };
        let ranks = spec.ranks;
        self.run(&spec, turn.round, links, out)
            .map_err(|reason| Reason::new(reason.cause, format!("job of {ranks} ranks: {}", reason.text)))
    }

    fn run(
        &mut self,
        spec: &JobSpec,
        round: Option<u64>,
        links: Vec<HostLink>,
        out: &mut dyn Sink,
    ) -> Result<(), Reason> {
        let mut job = Job::start(spec, links)?;
        let mut samples = job.run(Phase::Measure, &Stop::after(spec.patience))?;
        self.found.push(job.verify()?);
        let end = job.finish(spec.patience)?;
        let Some(round) = round else { return Ok(()) };
        samples.extend(end.left);
        samples.push(Sample::new(LAUNCHER, Params::default(), end.launcher, Quantity::count(1)));
        for mut sample in samples {
            sample.at.set("ranks", spec.ranks as u64);
            sample.at.set("round", round);
            out.sample(sample);
        }
        tell_job(spec, &job, out);
        Ok(())
    }
}

impl Running for Starter {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            return Ok(());
        }
        let until = Instant::now() + self.time;
        let (jobs, mut links) = (self.jobs.clone(), std::mem::take(&mut self.links).into_iter());
        let is_alone = links.len() == 0;
        let mut next = || links.next().unwrap_or_default();
        self.job(JobTurn { of_node: jobs[0], round: None }, next(), out)?;
        for round in 0.. {
            for of_node in &jobs[1..] {
                self.job(JobTurn { of_node: *of_node, round: Some(round) }, next(), out)?;
            }
            // Other nodes have made connections for one round.
            if !is_alone || stop.is_over() || Instant::now() >= until {
                break;
            }
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::of_all(std::mem::take(&mut self.found)))
    }
}

/// The part of another node.
struct StartFollower {
    ends: Vec<NodeEnd>,
}

impl StartFollower {
    fn start(streams: Vec<TcpStream>, jobs: &[usize]) -> Result<Self, Reason> {
        let ends = split(streams, jobs).into_iter().map(NodeEnd::start).collect::<Result<_, Reason>>()?;
        Ok(Self { ends })
    }
}

impl Running for StartFollower {
    fn run(&mut self, phase: Phase, _: &Stop, _: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::Measure {
            self.ends.iter_mut().try_for_each(NodeEnd::wait)?;
        }
        Ok(())
    }

    /// The first part tells what all ranks have checked.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::Verified { checked: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_gets_its_connections_of_every_node() {
        // Two nodes, a job of one rank on each and one of two: three connections and four of each node.
        let all = split((0..14).collect(), &[1, 2]);
        assert_eq!(all, [vec![0, 1, 2, 7, 8, 9], vec![3, 4, 5, 6, 10, 11, 12, 13]]);
        assert!(split(Vec::<u8>::new(), &[1, 2]).concat().is_empty(), "a node alone has no connections");
    }
}
