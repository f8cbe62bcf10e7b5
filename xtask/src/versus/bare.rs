//! The loops of `mem.bandwidth` with nothing around them: what the harness costs is measured against this.

use std::process::Command;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use seatrial_mem::kernel::{
    ARRAY_OFFSET_BYTES, Arrays, ELEMENTS_MULTIPLE, Isa, Kernel, Pass, PrefetchTrial, Store,
};
use seatrial_sys::affinity;
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::memory::{MapRequest, Mapping, Pages, Place};

/// How long the loop runs, after one pass to warm up.
const SPAN: Duration = Duration::from_millis(600);

/// Elements between two looks at the clock: 32 MiB of each array, some milliseconds. With whole passes between them, one thread
/// would have the memory to itself for a tenth of its time, after the others have ended.
const PIECE: usize = (32 << 20) / size_of::<f64>();

#[derive(Clone, Copy, Debug)]
pub struct Bare {
    pub kernel: Kernel,
    /// Its kind of stores.
    pub store: Option<Store>,
    pub threads: usize,
    /// Size of each array over all threads.
    pub array_mib: u64,
}

/// The hidden task that is a bare loop in a process of its own.
#[derive(clap::Args)]
#[command(hide = true)]
pub struct Args {
    kernel: String,
    store: String,
    threads: usize,
    array_mib: u64,
}

/// Runs a bare loop and prints GB/s.
///
/// # Errors
/// When the words name no loop, or memory or CPUs cannot be had.
pub fn run(args: &Args) -> Result<()> {
    let bare = Bare {
        kernel: args.kernel.parse()?,
        store: Store::ALL.iter().copied().find(|store| store.name() == args.store),
        threads: args.threads,
        array_mib: args.array_mib,
    };
    println!("{}", bare.measure()?);
    Ok(())
}

impl Bare {
    /// Measures in a process of its own, in GB/s.
    pub fn in_process(&self) -> Result<f64> {
        let mut command = Command::new(std::env::current_exe()?);
        let store = self.store.map_or("none", Store::name);
        command.args([
            "bare",
            self.kernel.name(),
            store,
            &self.threads.to_string(),
            &self.array_mib.to_string(),
        ]);
        let output = command.output().context("cannot start the bare loop")?;
        ensure!(output.status.success(), "bare loop: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    }

    fn measure(&self) -> Result<f64> {
        let isa = *Isa::ALL
            .iter()
            .rfind(|isa| isa.is_available())
            .context("no instruction set that we have loops for")?;
        let pass = Pass::select(self.kernel, self.store, isa).context("no such loop")?;
        let cpus: Vec<u32> = affinity::allowed()?.iter().take(self.threads).collect();
        ensure!(cpus.len() == self.threads, "{} CPUs are not to be had", self.threads);
        let barrier = Barrier::new(cpus.len());
        let rates: Vec<Result<f64>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                cpus.iter().map(|cpu| scope.spawn(|| self.one(&pass, *cpu, &barrier))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a bare loop does not panic")).collect()
        });
        rates.into_iter().sum()
    }

    /// The rate of one thread in GB/s.
    fn one(&self, pass: &Pass, cpu: u32, barrier: &Barrier) -> Result<f64> {
        affinity::pin(&CpuSet::of(cpu))?;
        let elements = (self.array_mib << 20) as usize / size_of::<f64>() / self.threads;
        let elements = elements / ELEMENTS_MULTIPLE * ELEMENTS_MULTIPLE;
        let mut maps = Vec::new();
        for array in 0..self.kernel.arrays() {
            let bytes = elements * size_of::<f64>() + array * ARRAY_OFFSET_BYTES;
            let request = MapRequest {
                bytes,
                cap_bytes: bytes + bytes / 8 + (4 << 20),
                pages: &Pages::LARGEST_FIRST,
                place: Place::Local,
            };
            maps.push(Mapping::map(&request)?);
        }
        let mut slices = maps.iter_mut().enumerate().map(|(array, map)| {
            let skip = array * ARRAY_OFFSET_BYTES / size_of::<f64>();
            &mut map.as_mut_slice::<f64>()[skip..skip + elements]
        });
        let mut next = || slices.next().unwrap_or_default();
        let mut arrays = Arrays { a: next(), b: next(), c: next() };
        self.kernel.fill(&mut arrays);
        // As the benchmark does.
        let bytes = (elements * self.kernel.counted_bytes_per_element()) as u64;
        let trial = PrefetchTrial::run(pass, |pass| {
            pass.run(&mut arrays);
            bytes
        });
        let pass = trial.fastest().unwrap_or(pass);
        pass.run(&mut arrays);
        barrier.wait();
        let (start, mut done) = (Instant::now(), 0);
        'span: loop {
            for from in (0..elements).step_by(PIECE) {
                if start.elapsed() >= SPAN {
                    break 'span;
                }
                let to = (from + PIECE).min(elements);
                pass.run(&mut part(&mut arrays, from, to));
                done += to - from;
            }
        }
        let bytes = (done * self.kernel.counted_bytes_per_element()) as f64;
        Ok(bytes / start.elapsed().as_secs_f64() / 1e9)
    }
}

/// Elements `from` to `to` of each array that the loop has.
fn part<'a>(arrays: &'a mut Arrays<'_>, from: usize, to: usize) -> Arrays<'a> {
    let cut = |array: &'a mut [f64]| array.get_mut(from..to).unwrap_or_default();
    Arrays { a: cut(arrays.a), b: cut(arrays.b), c: cut(arrays.c) }
}
