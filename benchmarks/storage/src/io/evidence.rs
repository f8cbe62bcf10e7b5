//! Evidence of how a number came about: files, engine, cache, device, CPU time.

use rustix::time::{ClockId, clock_gettime};
use seatrial_model::Nanos;
use seatrial_sys::clock::now_ns;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::{Device, Moved, moved_by_device, moved_by_process, throttle};
use serde_json::{Value, json};

use super::job::JobSpec;
use super::made::Made;
use super::team::{Prepared, Ran};
use crate::extents;
use seatrial_bench::Latencies;

#[derive(Clone, Debug)]
pub struct Account {
    at: Nanos,
    cpu: Nanos,
    device: Result<Moved, String>,
    process: Result<Moved, String>,
}

impl Account {
    /// Reads all counters; takes some tens of microseconds.
    pub fn now(device: Device) -> Self {
        let root = SysRoot::live();
        // CPU time of all threads of the process, io_uring's kernel threads included (clock_gettime(2)).
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let cpu = Nanos(cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs());
        Self {
            at: Nanos(now_ns()),
            cpu,
            device: moved_by_device(&root, device).map_err(|error| error.to_string()),
            process: moved_by_process(&root).map_err(|error| error.to_string()),
        }
    }

    pub fn cpu_since(&self, earlier: &Self) -> Nanos {
        self.cpu.since(earlier.cpu)
    }

    /// Bytes that the device moved per requested byte since `earlier`, and for how much of the time it had requests;
    /// without a device, bytes that the kernel counted for this process.
    pub fn moved_since(&self, earlier: &Self, read: u64, written: u64) -> Value {
        let (source, moved) = match (&self.device, &earlier.device, &self.process, &earlier.process) {
            (Ok(now), Ok(then), ..) => ("device", now.since(then)),
            (.., Ok(now), Ok(then)) => ("process", now.since(then)),
            (Err(why), ..) | (_, Err(why), ..) => return json!({ "unknown": why }),
        };
        let ratio = |moved: u64, bytes: u64| (bytes > 0).then(|| moved as f64 / bytes as f64);
        let elapsed = self.at.since(earlier.at);
        let busy = (moved.busy_ms > 0 && elapsed.get() > 0)
            .then(|| (moved.busy_ms as f64 / 1e3 / elapsed.as_secs()).min(1.0));
        json!({
            "source": source,
            "elapsed_ns": elapsed.get(),
            "busy": busy,
            "in_flight": busy.map(|_| moved.queued_ms as f64 / moved.busy_ms as f64),
            "read_bytes": moved.read,
            "written_bytes": moved.written,
            "read_per_byte": ratio(moved.read, read),
            "written_per_byte": ratio(moved.written, written),
        })
    }
}

pub fn files(made: &Made, job: &JobSpec) -> Value {
    let root = SysRoot::live();
    let alignment = made.alignment.map(|alignment| {
        json!({ "memory": alignment.memory, "offset": alignment.offset, "source": alignment.source.word() })
    });
    json!({
        "directory": made.directory.display().to_string(),
        "instead_of": made.instead,
        "count": job.file_count(),
        "bytes_each": job.file_bytes(),
        "hidden": made.hiding.word(),
        "not_reserved": made.unreserved.map(|errno| errno.to_string()),
        "alignment": alignment,
        "device": made.device.name(&root),
        "device_number": made.device.to_string(),
        "extents": extents::evidence(&made.files),
    })
}

/// Limits of control groups on the device; null without any.
pub fn throttled(made: &Made) -> Value {
    match throttle(&SysRoot::live(), made.device) {
        Ok(found) if found.is_any() => json!({
            "read_bytes_per_s": found.read_bytes,
            "written_bytes_per_s": found.written_bytes,
            "reads_per_s": found.reads,
            "writes_per_s": found.writes,
        }),
        Ok(_) => Value::Null,
        Err(error) => json!({ "unknown": error.to_string() }),
    }
}

pub fn engine(prepared: &[Prepared]) -> Value {
    let Some(first) = prepared.first() else { return Value::Null };
    let fixed = |answer: Result<(), seatrial_sys::Errno>| answer.err().map(|errno| errno.to_string());
    let ring = first.setup.as_ref().map(|setup| {
        json!({
            "flags": setup.flags,
            "polled": setup.polled,
            "buffers_not_registered": fixed(setup.fixed_buffers),
            "files_not_registered": fixed(setup.fixed_files),
        })
    });
    json!({ "word": first.engine, "depth": first.depth, "ring": ring, "instead_of": first.refused })
}

/// How the page cache was kept out, and what it held before the clock started.
pub fn cache(prepared: &[Prepared], job: &JobSpec) -> Value {
    let method = match (job.direct, job.operation.reads()) {
        (true, _) => "direct",
        (false, true) => "fadvise dontneed before each pass",
        (false, false) => "none: writes go to the cache, and flushing is timed",
    };
    // Threads of one file each see the whole file.
    let seen = &prepared[..prepared.len().min(job.file_count())];
    let told: Result<Vec<_>, _> = seen.iter().map(|one| one.resident.as_ref()).collect();
    let resident = match told {
        Ok(all) => json!({
            "percent": 100.0 * all.iter().map(|(bytes, _)| *bytes).sum::<u64>() as f64
                / (job.file_bytes() * job.file_count() as u64).max(1) as f64,
            "by": all.first().map(|(_, by)| *by),
        }),
        Err(why) => json!({ "unknown": why }),
    };
    json!({ "method": method, "resident_before": resident })
}

pub fn latencies(ran: &[Ran]) -> Value {
    let mut all = Latencies::default();
    ran.iter().for_each(|one| all.add(&one.tally.latencies));
    all.to_evidence()
}
