//! Reads a GPU's clocks and counters while it is measured.

use seatrial_model::{Case, Finding, PartRecord, Severity, Subject};
use seatrial_sys::gpu::nvml::{Clock, Errors, Handle, Nvml, Throttle, Xids};
use seatrial_sys::root::SysRoot;
use serde_json::{Map, Value, json};

use super::pcie_route::PcieRoute;

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

    pub fn end(self) -> Value {
        let seen = self.0.into_iter().map(|(address, watch)| (address, watch.end()));
        Value::Object(seen.collect::<Map<String, Value>>())
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
            throttle: handle.throttle().map_or(0, |bits| bits.0),
        };
        self.slowest = self.slowest.into_iter().chain(reading.processors_mhz).min();
        self.readings.push(reading);
    }

    fn end(self) -> Value {
        let handle = match self.handle {
            Ok(handle) => handle,
            Err(why) => return json!({ "unreadable": why, "way": self.route.evidence() }),
        };
        let (xids, deaf) = match self.xids {
            Ok(xids) => (Some(xids.seen()), None),
            Err(why) => (None, Some(why)),
        };
        let after = handle.errors();
        let grown = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
        let range = |of: fn(&WatchReading) -> Option<u32>| {
            let seen: Vec<u32> = self.readings.iter().filter_map(of).collect();
            Some(json!({ "least": seen.iter().min()?, "most": seen.iter().max()? }))
        };
        let bits = self.readings.iter().fold(0, |all, reading| all | reading.throttle);
        let causes: Vec<&str> = Throttle(bits).causes().collect();
        let links = handle.nvlinks().ok();
        let others = others(&handle);
        json!({
            "other_names": names(others.iter().flatten()),
            "others": others,
            "readings": self.readings.len(),
            "processors_mhz": range(|reading| reading.processors_mhz),
            "processors_mhz_max": handle.max_clock_mhz(Clock::Processors).ok(),
            "memory_mhz": range(|reading| reading.memory_mhz),
            "memory_mhz_max": handle.max_clock_mhz(Clock::Memory).ok(),
            "pcie_generation": range(|reading| reading.generation),
            "pcie_generation_max": handle.max_link_generation().ok(),
            "pcie_width": range(|reading| reading.width),
            "pcie_width_max": handle.max_link_width().ok(),
            "throttle_bits": bits,
            "throttled_by": causes,
            "temperature_c": handle.temperature().ok(),
            "pcie_replays": grown(self.before.replays, after.replays),
            "ecc_corrected": grown(self.before.corrected, after.corrected),
            "ecc_uncorrected": grown(self.before.uncorrected, after.uncorrected),
            "nvlinks_active": links.as_ref().map(|links| links.active.len()),
            "nvlinks": links.as_ref().map(|links| links.count),
            "persistence": handle.persistence().ok(),
            "mig": handle.is_cut().ok(),
            "compute_mode": handle.compute_mode().ok(),
            "xids": xids,
            "xids_unreadable": deaf,
            "way": self.route.evidence(),
        })
    }
}

/// Other processes that compute on the GPU. `None` if this process is not in the list itself: in a container, process
/// numbers differ.
fn others(handle: &Handle<'_>) -> Option<Vec<u32>> {
    let mut all = handle.processes().ok()?;
    let own = all.iter().position(|process| *process == std::process::id())?;
    all.remove(own);
    Some(all)
}

fn names<'a>(pids: impl Iterator<Item = &'a u32>) -> Map<String, Value> {
    let root = SysRoot::live();
    let name = |pid: &u32| {
        let name = root.text(format!("/proc/{pid}/comm")).ok()?;
        Some((pid.to_string(), Value::from(name.trim_end())))
    };
    pids.filter_map(name).collect()
}

fn findings(seen: &Value, subject: &Subject) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut tell = |kind: &str, severity, text: String| {
        found.push(Finding::new(kind, severity, subject.clone(), text));
    };
    let number = |path: &str| seen.pointer(path).and_then(Value::as_u64);
    for (what, unit) in [("generation", "generation"), ("width", "lanes")] {
        let (now, most) = (number(&format!("/pcie_{what}/least")), number(&format!("/pcie_{what}_max")));
        if let (Some(now), Some(most)) = (now, most)
            && now < most
        {
            let text = format!(
                "the PCI Express link ran at {unit} {now} under load, but GPU and slot support {most}: \
                 reseat the card, check the riser and the firmware settings"
            );
            tell("pcie-link-reduced", Severity::Problem, text);
        }
    }
    super::pcie_route::reduced(&seen["way"]).into_iter().for_each(|text| {
        tell("pcie-way-reduced", Severity::Problem, text);
    });
    let xids: Vec<String> = seen["xids"].as_array().into_iter().flatten().map(Value::to_string).collect();
    if !xids.is_empty() {
        let text = format!(
            "the driver reported Xid {} during the measurement; see the kernel log (dmesg)",
            xids.join(", ")
        );
        tell("gpu-xid", Severity::Problem, text);
    }
    let causes: Vec<&str> =
        seen["throttled_by"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !causes.is_empty() {
        tell(
            "gpu-throttled",
            Severity::Warning,
            format!("the GPU clock was throttled by {}", causes.join(", ")),
        );
    }
    for (key, kind, severity, what) in [
        ("/pcie_replays", "pcie-replays", Severity::Warning, "packets were replayed on the PCI Express link"),
        ("/ecc_corrected", "ecc-corrected", Severity::Info, "ECC errors of the GPU memory were corrected"),
        (
            "/ecc_uncorrected",
            "ecc-uncorrected",
            Severity::Problem,
            "uncorrectable ECC errors of the GPU memory were counted",
        ),
    ] {
        if let Some(count) = number(key).filter(|count| *count > 0) {
            tell(kind, severity, format!("{count} {what} during the measurement"));
        }
    }
    let others = seen["others"].as_array().map_or(0, Vec::len);
    if others > 0 {
        let which = seen["others"].to_string();
        let text = format!("{others} other processes compute on this GPU {which}: they lower the result");
        tell("gpu-shared", Severity::Warning, text);
    }
    if seen["mig"].as_bool() == Some(true) {
        let text = "the GPU is in MIG mode: the results are those of one MIG instance, the limits those of \
            the whole GPU";
        tell("mig", Severity::Warning, text.to_owned());
    }
    found
}

pub fn findings_of(case: &Case, parts: &[PartRecord]) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for part in parts {
        for (address, seen) in part.evidence.get("watch").and_then(Value::as_object).into_iter().flatten() {
            let alone = case.subject.kind() == "gpu";
            let subject = if alone { case.subject.clone() } else { Subject::device("gpu", address) };
            for finding in findings(seen, &subject) {
                if !found
                    .iter()
                    .any(|other| (&other.kind, &other.subject) == (&finding.kind, &finding.subject))
                {
                    found.push(finding);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(seen: &Value) -> Vec<String> {
        findings(seen, &Subject::device("gpu", "0")).into_iter().map(|finding| finding.kind).collect()
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
