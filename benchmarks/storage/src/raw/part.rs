//! The worker: one thread per disk, each on its own CPU near the disk.

use std::thread;

use seatrial_model::{
    Binding, Case, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample,
};
use seatrial_sys::clock::now_ns;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::moved_by_device;
use serde_json::json;

use super::config::RawConfig;
use super::device::Disk;
use super::reader::{DiskSlice, DiskTally, Job, read};
use super::zones::Zone;
use crate::device_bytes;
use seatrial_bench::{Gate, Latencies, Running, Sink, Stop, ThreadSpec, ThreadTeam};
use seatrial_stats::mix;

/// Sample channel: one disk, read alone.
pub const ALONE: &str = "alone";
/// Sample channel: one disk, read at random.
pub const RANDOM: &str = "random";
/// Sample channel: disks read at the same time.
pub const TOGETHER: &str = "together";

#[derive(Debug)]
pub struct RawWorker {
    bindings: Vec<Binding>,
    config: RawConfig,
    root: SysRoot,
    disks: Vec<Disk>,
    tally: DiskTally,
    key: u64,
    engine: &'static str,
}

impl RawWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let (config, root, bindings) = (RawConfig::of(case)?, SysRoot::live(), place.bindings.clone());
        let open = |name: &String| Disk::open(&root, name, &config);
        let disks = config.disks.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { bindings, config, root, disks, tally: DiskTally::default(), key: 0, engine: "none" })
    }

    /// Reads zones of some disks at the same time, each zone for its part of `span`; returns slices by disk and zone.
    fn read(&mut self, jobs: &[(usize, Vec<Zone>)], span: Nanos, stop: &Stop) -> Result<Vec<Found>, Reason> {
        let (disks, config, bindings) = (&self.disks, &self.config, &self.bindings);
        self.key = mix(self.key ^ now_ns());
        let (key, gate) = (self.key, &Gate::new(jobs.len()));
        let ended = thread::scope(|scope| {
            let threads = jobs.iter().map(|(number, zones)| {
                let binding = bindings.get(number % bindings.len().max(1));
                let spec = ThreadSpec::new(format!("disk{number}"), binding.map(|binding| binding.cpu));
                (spec, move || Ok((*number, zones, disks[*number].engine(config)?)))
            });
            ThreadTeam::start_in(scope, threads, "fewer disks")?.all(move |_, (number, zones, engine)| {
                gate.pass();
                let (disk, number) = (&disks[*number], *number);
                let (mut tally, mut found) = (DiskTally::default(), Vec::new());
                let begin = Nanos(now_ns());
                let each = span.get() / zones.len().max(1) as u64;
                for (turn, zone) in zones.iter().enumerate() {
                    disk.forget(zone, config);
                    let until = begin.plus(Nanos(each * (turn as u64 + 1)));
                    let key = mix(key ^ (number as u64) << 8 ^ turn as u64);
                    let job = Job {
                        disk: &disk.name,
                        zone,
                        block: config.block,
                        key,
                        random: config.random,
                        until,
                    };
                    let slices = read(engine.as_mut(), &job, stop, &mut tally)?;
                    found.push(Found { disk: number, position: zone.position, slices });
                }
                Ok((engine.name(), tally, found))
            })
        })?;
        let mut all = Vec::new();
        for (engine, tally, found) in ended {
            self.engine = engine;
            self.tally.add(tally);
            all.extend(found);
        }
        Ok(all)
    }

    fn moved(&self) -> Vec<Result<u64, String>> {
        let of = |disk: &Disk| moved_by_device(&self.root, disk.device);
        self.disks
            .iter()
            .map(|disk| of(disk).map(|moved| moved.read).map_err(|why| why.to_string()))
            .collect()
    }
}

struct Found {
    disk: usize,
    position: u64,
    slices: Vec<DiskSlice>,
}

impl Running for RawWorker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let whole = Nanos::from(stop.left());
        let first = |(number, disk): (usize, &Disk)| (number, disk.zones[..1].to_vec());
        let all: Vec<(usize, Vec<Zone>)> = self.disks.iter().enumerate().map(first).collect();
        if phase == Phase::WarmUp {
            return self.read(&all, whole, stop).map(drop);
        }
        // Requests of the warm-up do not count, but what they found wrong does.
        self.tally.latencies = Latencies::default();
        let before = self.moved();
        let mut asked = Vec::new();
        if self.config.together {
            let each = Nanos(whole.get() / 2 / all.len() as u64);
            for job in &all {
                let earlier = self.tally.bytes;
                let found = self.read(std::slice::from_ref(job), each, stop)?;
                asked.push(self.tally.bytes - earlier);
                tell(ALONE, &found, true, out);
            }
            let earlier = self.tally.bytes;
            let found = self.read(&all, Nanos::from(stop.left()), stop)?;
            // The bytes are not counted per disk here; only the sums are compared.
            let together = self.tally.bytes - earlier;
            tell(TOGETHER, &found, true, out);
            let asked: u64 = asked.iter().sum::<u64>() + together;
            let counted = sum(&before, &self.moved());
            out.evidence("path", json!([device_bytes::evidence("all", asked, counted)]));
        } else {
            let zones = self.disks[0].zones.clone();
            let earlier = self.tally.bytes;
            let found = self.read(&[(0, zones)], whole, stop)?;
            tell(if self.config.random { RANDOM } else { ALONE }, &found, false, out);
            if self.config.random {
                out.evidence("latencies", self.tally.latencies.to_evidence());
            }
            let counted = sum(&before, &self.moved());
            let path = device_bytes::evidence(&self.disks[0].name, self.tally.bytes - earlier, counted);
            out.evidence("path", json!([path]));
        }
        let disks: Vec<_> = self.disks.iter().map(|disk| disk.evidence(&self.root)).collect();
        out.evidence("disks", disks.into());
        out.evidence("engine", self.engine.into());
        Ok(())
    }

    /// The expected contents of the disk are unknown. The check is that every request changed both ends of its
    /// buffer.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        let DiskTally { requests, undelivered, first, .. } = &self.tally;
        Ok(match first {
            Some(first) => Integrity::Corrupt { wrong: *undelivered, of: *requests, first: first.clone() },
            None if *requests == 0 => Integrity::Unverified { why: "nothing was read".to_owned() },
            None => Integrity::Verified { checked: 16 * requests },
        })
    }
}

/// Bytes that all disks moved between two readings.
fn sum(before: &[Result<u64, String>], after: &[Result<u64, String>]) -> Result<u64, String> {
    let mut sum = 0;
    for (before, after) in before.iter().zip(after) {
        let (before, after) = (before.as_ref().map_err(Clone::clone)?, after.as_ref().map_err(Clone::clone)?);
        sum += after.checked_sub(*before).ok_or("the counter went backwards")?;
    }
    Ok(sum)
}

/// Emits the slices, by disk or by position.
fn tell(channel: &str, found: &[Found], by_disk: bool, out: &mut dyn Sink) {
    for Found { disk, position, slices } in found {
        for slice in slices {
            let mut at = Params::default();
            match by_disk {
                true => at.set("disk", *disk as u64),
                false => at.set("position", *position),
            }
            let span = (slice.start, slice.end);
            out.sample(Sample::new(channel, at, span, Quantity::bytes(slice.bytes)));
        }
    }
}
