//! Reads a GPU's clocks and counters while it is measured.

use std::collections::BTreeMap;

use super::pcie_route::{PcieRoute, Way};
use seatrial_inventory::pcie_rate;
use seatrial_model::{
    Case, Fact, Finding, GpuProcesses, Hold, Measures, OtherProcesses, PartRecord, Severity, Subject,
};
use seatrial_sys::gpu::nvml::{Clock, Errors, Handle, Nvml, Throttle, Xids};
use seatrial_sys::process::RunProcesses;
use seatrial_sys::root::SysRoot;
use serde::{Deserialize, Serialize};

/// What was read of each GPU of a case, by its PCI address; the other processes are read as [`GpuProcesses`] too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GpuReadings(pub BTreeMap<String, GpuReading>);

impl Fact for GpuReadings {
    const NAME: &'static str = GpuProcesses::NAME;
}

/// What the management library and sysfs told of one GPU over a measuring phase; none where they do not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuReading {
    /// Why there is no management library; all but `way` is missing then.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
    #[serde(flatten)]
    pub processes: OtherProcesses,
    readings: usize,
    processors_mhz: Option<Range>,
    processors_mhz_max: Option<u32>,
    memory_mhz: Option<Range>,
    memory_mhz_max: Option<u32>,
    pcie_generation: Option<Range>,
    pcie_generation_max: Option<u32>,
    pcie_width: Option<Range>,
    pcie_width_max: Option<u32>,
    throttle_bits: u64,
    throttled_by: Vec<String>,
    /// The highest of the readings.
    pub temperature_c: Option<u32>,
    power_w: Option<Range>,
    /// Means of the readings.
    pub power_mean_w: Option<f64>,
    pub processors_mean_mhz: Option<f64>,
    power_limit_w: Option<u32>,
    pcie_replays: Option<u64>,
    ecc_corrected: Option<u64>,
    ecc_uncorrected: Option<u64>,
    nvlinks_active: Option<usize>,
    nvlinks: Option<u32>,
    persistence: Option<bool>,
    mig: Option<bool>,
    compute_mode: Option<String>,
    xids: Option<Vec<u64>>,
    xids_unreadable: Option<String>,
    way: Way,
}

/// The lowest and the highest of several readings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Range {
    least: u32,
    most: u32,
}

#[derive(Debug)]
pub struct Watches<'a>(Vec<(String, Watch<'a>)>);

impl<'a> Watches<'a> {
    pub fn begin(nvml: &'a Result<Nvml, String>, addresses: &[String]) -> Self {
        let root = SysRoot::live();
        Self(addresses.iter().map(|address| (address.clone(), Watch::begin(nvml, &root, address))).collect())
    }

    pub fn take_reading(&mut self) {
        self.0.iter_mut().for_each(|(_, watch)| watch.take_reading());
    }

    /// Each GPU's lowest multiprocessor clock in MHz since the last call; `None` where it is not reported.
    pub fn clocks(&mut self) -> Vec<Option<u32>> {
        self.0.iter_mut().map(|(_, watch)| watch.slowest.take()).collect()
    }

    /// For the record: what was seen of each, by its address.
    pub fn end(self) -> GpuReadings {
        GpuReadings(self.0.into_iter().map(|(address, watch)| (address, watch.end())).collect())
    }
}

/// Watches one GPU during a measuring phase; without NVML, every value says so.
#[derive(Debug)]
struct Watch<'a> {
    handle: Result<Handle<'a>, String>,
    before: Errors,
    xids: Result<Xids<'a>, String>,
    route: PcieRoute,
    readings: Vec<WatchReading>,
    slowest: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct WatchReading {
    processors_mhz: Option<u32>,
    memory_mhz: Option<u32>,
    generation: Option<u32>,
    width: Option<u32>,
    power_w: Option<u32>,
    temperature_c: Option<u32>,
    throttle: u64,
}

impl<'a> Watch<'a> {
    fn begin(nvml: &'a Result<Nvml, String>, root: &SysRoot, address: &str) -> Self {
        let handle = match nvml {
            Ok(nvml) => nvml.at(address).ok_or_else(|| format!("{} does not list {address}", Nvml::LIBRARY)),
            Err(why) => Err(why.clone()),
        };
        let before = handle.as_ref().map_or(Errors::default(), Handle::errors);
        let xids = match &handle {
            Ok(handle) => handle.xids().map_err(|error| error.to_string()),
            Err(why) => Err(why.clone()),
        };
        Self {
            handle,
            before,
            xids,
            route: PcieRoute::of(root, address),
            readings: Vec::new(),
            slowest: None,
        }
    }

    /// Takes between ten microseconds and some milliseconds.
    fn take_reading(&mut self) {
        self.route.read_link();
        let Ok(handle) = &self.handle else { return };
        let reading = WatchReading {
            processors_mhz: handle.clock_mhz(Clock::Processors).ok(),
            memory_mhz: handle.clock_mhz(Clock::Memory).ok(),
            generation: handle.link_generation().ok(),
            width: handle.link_width().ok(),
            power_w: handle.power_mw().ok().map(|power| power / 1000),
            temperature_c: handle.temperature().ok(),
            throttle: handle.throttle().map_or(0, |bits| bits.0),
        };
        self.slowest = self.slowest.into_iter().chain(reading.processors_mhz).min();
        self.readings.push(reading);
    }

    /// For the record: what was seen.
    fn end(self) -> GpuReading {
        let way = self.route.evidence();
        let handle = match self.handle {
            Ok(handle) => handle,
            Err(why) => return GpuReading { unreadable: Some(why), way, ..GpuReading::default() },
        };
        let (xids, deaf) = match self.xids {
            Ok(xids) => (Some(xids.seen()), None),
            Err(why) => (None, Some(why)),
        };
        let after = handle.errors();
        let grown = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
        let seen = |of: fn(&WatchReading) -> Option<u32>| self.readings.iter().filter_map(of);
        let range = |of| Some(Range { least: seen(of).min()?, most: seen(of).max()? });
        let mean = |of| {
            let (sum, count) =
                seen(of).fold((0.0, 0), |(sum, count), value| (sum + f64::from(value), count + 1));
            (count > 0).then(|| sum / f64::from(count))
        };
        let bits = self.readings.iter().fold(0, |all, reading| all | reading.throttle);
        let links = handle.nvlinks().ok();
        let others = others(&handle);
        GpuReading {
            unreadable: None,
            processes: OtherProcesses { other_names: names(others.iter().flatten()), others },
            readings: self.readings.len(),
            processors_mhz: range(|reading| reading.processors_mhz),
            processors_mhz_max: handle.max_clock_mhz(Clock::Processors).ok(),
            memory_mhz: range(|reading| reading.memory_mhz),
            memory_mhz_max: handle.max_clock_mhz(Clock::Memory).ok(),
            pcie_generation: range(|reading| reading.generation),
            pcie_generation_max: handle.max_link_generation().ok(),
            pcie_width: range(|reading| reading.width),
            pcie_width_max: handle.max_link_width().ok(),
            throttle_bits: bits,
            throttled_by: Throttle(bits).causes().map(str::to_owned).collect(),
            temperature_c: seen(|reading| reading.temperature_c).max(),
            power_w: range(|reading| reading.power_w),
            power_mean_w: mean(|reading| reading.power_w),
            processors_mean_mhz: mean(|reading| reading.processors_mhz),
            power_limit_w: handle.power_limit_mw().ok().map(|power| power / 1000),
            pcie_replays: grown(self.before.replays, after.replays),
            ecc_corrected: grown(self.before.corrected, after.corrected),
            ecc_uncorrected: grown(self.before.uncorrected, after.uncorrected),
            nvlinks_active: links.as_ref().map(|links| links.active.len()),
            nvlinks: links.as_ref().map(|links| links.count),
            persistence: handle.persistence().ok(),
            mig: handle.is_cut().ok(),
            compute_mode: handle.compute_mode().ok().map(str::to_owned),
            xids,
            xids_unreadable: deaf,
            way,
        }
    }
}

/// Processes that compute on the GPU and do not belong to the run, of which a load beside the measurement is a part. `None`
/// if this process is not in the list itself: in a container, process numbers differ.
fn others(handle: &Handle<'_>) -> Option<Vec<u32>> {
    let mut all = handle.processes().ok()?;
    let own = all.iter().position(|process| *process == std::process::id())?;
    all.remove(own);
    if !all.is_empty()
        && let Ok(run) = RunProcesses::read(&SysRoot::live())
    {
        all.retain(|process| !run.has(*process));
    }
    Some(all)
}

/// The names of processes by their numbers, of those that still run.
fn names<'a>(pids: impl Iterator<Item = &'a u32>) -> BTreeMap<String, String> {
    let root = SysRoot::live();
    let name = |pid: &u32| {
        let name = root.text(format!("/proc/{pid}/comm")).ok()?;
        Some((pid.to_string(), name.trim_end().to_owned()))
    };
    pids.filter_map(name).collect()
}

impl GpuReading {
    /// What a link costs that never ran as fast as GPU and slot support; none where it did, or where the speed is unknown.
    pub fn slow_link(&self) -> Option<Hold> {
        let now = (self.pcie_generation?.most, self.pcie_width?.most);
        let most = (self.pcie_generation_max?, self.pcie_width_max?);
        let beside = pcie_rate(most.0, most.1)? / pcie_rate(now.0, now.1)? - 1.0;
        let what = format!("the link runs at generation {} x{} under load", now.0, now.1);
        let source =
            format!("the management library; GPU and slot support generation {} x{}", most.0, most.1);
        (beside > 0.0).then(|| Hold { what, beside, source, ..Hold::default() })
    }
}

/// What a reading of a GPU means, for the GPU `subject`.
fn findings(seen: &GpuReading, subject: &Subject) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut tell = |kind: &str, severity, text: String| {
        found.push(Finding::new(kind, severity, subject.clone(), text));
    };
    for (now, most, unit) in [
        (seen.pcie_generation, seen.pcie_generation_max, "generation"),
        (seen.pcie_width, seen.pcie_width_max, "lanes"),
    ] {
        if let (Some(Range { least: now, .. }), Some(most)) = (now, most)
            && now < most
        {
            let text = format!(
                "the PCI Express link ran at {unit} {now} under load, but GPU and slot support {most}: \
                 reseat the card, check the riser and the firmware settings"
            );
            tell("pcie-link-reduced", Severity::Problem, text);
        }
    }
    super::pcie_route::reduced(&seen.way).into_iter().for_each(|text| {
        tell("pcie-way-reduced", Severity::Problem, text);
    });
    let xids: Vec<String> = seen.xids.iter().flatten().map(u64::to_string).collect();
    if !xids.is_empty() {
        let text = format!(
            "the driver reported Xid {} during the measurement; see the kernel log (dmesg)",
            xids.join(", ")
        );
        tell("gpu-xid", Severity::Problem, text);
    }
    if !seen.throttled_by.is_empty() {
        let text = format!("the GPU clock was throttled by {}", seen.throttled_by.join(", "));
        tell("gpu-throttled", Severity::Warning, text);
    }
    let replays = "packets were replayed on the PCI Express link";
    let corrected = "ECC errors of the GPU memory were corrected";
    let uncorrected = "uncorrectable ECC errors of the GPU memory were counted";
    for (count, kind, severity, what) in [
        (seen.pcie_replays, "pcie-replays", Severity::Warning, replays),
        (seen.ecc_corrected, "ecc-corrected", Severity::Info, corrected),
        (seen.ecc_uncorrected, "ecc-uncorrected", Severity::Problem, uncorrected),
    ] {
        if let Some(count) = count.filter(|count| *count > 0) {
            tell(kind, severity, format!("{count} {what} during the measurement"));
        }
    }
    if let Some(others) = seen.processes.others.as_ref().filter(|others| !others.is_empty()) {
        let pids: Vec<String> = others.iter().map(u32::to_string).collect();
        let (count, pids) = (pids.len(), pids.join(", "));
        let text = format!("{count} other processes compute on this GPU ({pids}) and lower the result");
        tell("gpu-shared", Severity::Warning, text);
    }
    if seen.mig == Some(true) {
        let text = "the GPU is in MIG mode: the results are those of one MIG instance, the limits those of \
             the whole GPU";
        tell("mig", Severity::Warning, text.to_owned());
    }
    found
}

/// Matrix units take what the power limit allows, on every sound GPU: nothing to act on.
pub fn allow_power_limit(measures: &mut Measures) {
    let is_power_limit =
        |one: &&mut Finding| one.kind == "gpu-throttled" && one.text.ends_with("by power cap");
    measures.findings.iter_mut().filter(is_power_limit).for_each(|one| one.severity = Severity::Info);
}

/// The findings of all GPUs in the evidence of the parts of `case`, each once.
pub fn findings_of(case: &Case, parts: &[PartRecord]) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (address, seen) in
        parts.iter().filter_map(|part| GpuReadings::of(&part.evidence)).flat_map(|readings| readings.0)
    {
        let alone = case.subject.kind() == "gpu";
        let subject = if alone { case.subject.clone() } else { Subject::device("gpu", &address) };
        for finding in findings(&seen, &subject) {
            let same = |other: &Finding| (&other.kind, &other.subject) == (&finding.kind, &finding.subject);
            if !found.iter().any(same) {
                found.push(finding);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds(seen: &serde_json::Value) -> Vec<String> {
        let seen = GpuReading::deserialize(seen).expect("a reading");
        findings(&seen, &Subject::device("gpu", "0")).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn a_link_that_never_ran_at_full_speed_costs_what_it_is_slower_by() {
        let link = |generation: u32, width: u32| {
            let reading = json!({
                "pcie_generation": { "least": 1, "most": generation }, "pcie_generation_max": 5,
                "pcie_width": { "least": width, "most": width }, "pcie_width_max": 16,
            });
            GpuReading::deserialize(&reading).expect("a reading").slow_link()
        };
        assert_eq!(link(5, 16), None);
        let half = link(5, 8).expect("half as wide");
        assert!((half.beside - 1.0).abs() < 1e-9, "{half:?}");
        assert_eq!(half.what, "the link runs at generation 5 x8 under load");
        assert_eq!(GpuReading::default().slow_link(), None);
    }

    #[test]
    fn a_reduced_link_heat_and_errors_are_told_and_a_sound_gpu_is_not() {
        let sound = json!({
            "pcie_generation": { "least": 5, "most": 5 }, "pcie_generation_max": 5,
            "pcie_width": { "least": 16, "most": 16 }, "pcie_width_max": 16,
            "throttled_by": [], "pcie_replays": 0, "ecc_corrected": null, "mig": false, "xids": [], "way": [], "others": [],
        });
        assert!(kinds(&sound).is_empty());
        let sick = json!({
            "pcie_generation": { "least": 1, "most": 5 }, "pcie_generation_max": 5,
            "pcie_width": { "least": 8, "most": 8 }, "pcie_width_max": 16,
            "throttled_by": ["heat (hardware)"], "pcie_replays": 3, "ecc_uncorrected": 1, "mig": true, "others": [4711],
            "xids": [79], "way": [{ "link": "a - b", "reduced": ["8 GT/s x16, both its ends can do 32 GT/s x16"] }],
        });
        let expected = [
            "pcie-link-reduced",
            "pcie-link-reduced",
            "pcie-way-reduced",
            "gpu-xid",
            "gpu-throttled",
            "pcie-replays",
            "ecc-uncorrected",
            "gpu-shared",
            "mig",
        ];
        assert_eq!(kinds(&sick), expected);
        assert!(kinds(&json!({ "unreadable": "libnvidia-ml.so.1 not found" })).is_empty());
    }
}
