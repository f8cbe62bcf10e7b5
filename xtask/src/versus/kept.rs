//! Keeps results between measurements: one file an area, one line a row, from which the pages of performance are made.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jiff::civil::Date;
use seatrial_stats::Interval;
use serde::{Deserialize, Serialize};

use super::{AREAS, Lead, Line, Outcome, Side, Standing};

/// The folder of the results and of the text about each area, below the workspace's root.
pub const FOLDER: &str = "xtask/performance";

/// A row as it was measured last on a kind of machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The name of the figure, as `versus` prints it.
    pub work: String,
    /// Whom it was compared with; by hand, with the version where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    pub unit: String,
    /// Median, in the unit.
    pub ours: f64,
    /// Median of both of the peer's turns, in the unit.
    pub theirs: f64,
    /// Ours against the peer; above 1 is better.
    pub ratio: f64,
    /// Interval of the ratio, that of 1 - 0.05 / `looks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The peer against itself, with the interval of 95 %.
    pub itself: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itself_interval: Option<[f64; 2]>,
    pub rounds: usize,
    /// How often the rounds were looked at, at most; once where nothing says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looks: Option<usize>,
    /// Rounds that began while others used the machine; not known where nothing says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    pub lead: Lead,
    pub date: Date,
    pub machine: Hardware,
    /// Written by hand: why the row is behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a figure was measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// The model of the processor, with its numbers where it has any: a virtual machine's name may be that of many models.
    pub cpu: String,
    /// Hardware threads that the process may use.
    pub cores: usize,
    /// The version of Linux.
    pub kernel: String,
    /// Of what measures GPUs, those that it used, and their driver's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

/// Between the name of a processor and its numbers.
const NUMBERS: &str = " (family ";

/// What stands for the processor of a guest that the lab emulates.
const EMULATED: &str = "guest under QEMU's emulation";

/// The processor of a /proc/cpuinfo.
fn processor(text: &str) -> String {
    let field = |wanted: &str| {
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim())
    };
    let name = field("model name").unwrap_or("unknown processor");
    // The name holds a version that is not the emulator's, and the numbers belong to no processor.
    if name.starts_with("QEMU TCG") {
        return EMULATED.to_owned();
    }
    match (field("cpu family"), field("model"), field("stepping")) {
        (Some(family), Some(model), Some(stepping)) => {
            format!("{name}{NUMBERS}{family}, model {model}, stepping {stepping})")
        }
        _ => name.to_owned(),
    }
}

impl Hardware {
    /// This machine.
    pub fn here() -> Self {
        let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            cpu: processor(&cpus),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            // What follows names a build of somebody's.
            kernel: kernel.trim().split(['.', '-']).take(2).collect::<Vec<_>>().join("."),
            gpus: None,
            driver: None,
        }
    }

    /// The same with its GPUs.
    pub fn with_gpus(self, names: String, driver: String) -> Self {
        Self { gpus: Some(names), driver: Some(driver), ..self }
    }
}

impl fmt::Display for Hardware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(gpus) = &self.gpus {
            write!(f, "{gpus}, driver {}, ", self.driver.as_deref().unwrap_or("unknown"))?;
        }
        write!(f, "{}, {} threads, Linux {}", self.cpu, self.cores, self.kernel)
    }
}

impl Kept {
    /// What is kept of a line; of one that compares nothing, nothing.
    fn of(line: &Line, date: Date, machine: &Hardware) -> Option<Self> {
        let Outcome::Compared(paired, _) = &line.outcome else { return None };
        let work = line.figure.name.clone();
        let bounds = |side: &Side| side.interval.map(|Interval { low, high }| [places(low), places(high)]);
        Some(Self {
            peer: work.split_once(" vs ").map(|(_, peer)| peer.to_owned()),
            work,
            unit: line.figure.unit.to_string(),
            ours: digits(paired.ours),
            theirs: digits(paired.peer),
            ratio: places(paired.against.ratio),
            interval: bounds(&paired.against),
            itself: places(paired.itself.ratio),
            itself_interval: bounds(&paired.itself),
            rounds: paired.against.rounds,
            looks: Some(paired.looks),
            disturbed: Some(line.disturbed),
            goal: line.figure.goal,
            standing: paired.standing,
            lead: paired.lead,
            date,
            machine: machine.clone(),
            why: None,
        })
    }

    /// One row of each work and kind of machine, which has this processor and these GPUs; another kernel or driver is no other
    /// kind.
    fn key(&self, cpu: &str) -> (String, String, usize, Option<String>) {
        (self.work.clone(), cpu.to_owned(), self.machine.cores, self.machine.gpus.clone())
    }
}

/// The file of an area.
pub fn path(folder: &Path, area: &str) -> PathBuf {
    folder.join(format!("{area}.jsonl"))
}

/// All rows that are kept of an area, in the order of the file.
///
/// # Errors
/// When the file is there and cannot be read, or a line is no row.
pub fn read(folder: &Path, area: &str) -> Result<Vec<Kept>> {
    let path = path(folder, area);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let row = |(number, line)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}", path.display(), number + 1))
    };
    text.lines().enumerate().map(row).collect()
}

/// Writes what was measured into the file of its area: in place of the rows of the same work and kind of machine, or of those
/// whose processor has no numbers yet, beside all others, in order of work and machine. What is written by hand stays. Whoever
/// reads meanwhile has the file of before, or all of the new one.
///
/// # Errors
/// When the file cannot be read or written.
pub fn keep(folder: &Path, area: &str, lines: &[Line], date: Date, machine: &Hardware) -> Result<()> {
    let known = read(folder, area)?.into_iter().map(|row| (row.key(&row.machine.cpu), row));
    let mut rows: BTreeMap<_, Kept> = known.collect();
    let without_numbers = machine.cpu.split(NUMBERS).next().unwrap_or_default();
    for mut row in lines.iter().filter_map(|line| Kept::of(line, date, machine)) {
        let key = row.key(&machine.cpu);
        if let Some(before) = rows.remove(&key).or_else(|| rows.remove(&row.key(without_numbers))) {
            (row.peer, row.why) = (before.peer.or(row.peer), before.why);
        }
        rows.insert(key, row);
    }
    let mut text = String::new();
    for row in rows.values() {
        text += &serde_json::to_string(row)?;
        text.push('\n');
    }
    let path = path(folder, area);
    let new = path.with_extension("new");
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path));
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Areas of which a folder has results.
///
/// # Errors
/// When the folder cannot be read, or a file of results is that of no area.
pub fn areas(folder: &Path) -> Result<Vec<&'static str>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some(area) = name.strip_suffix(".jsonl") else { continue };
        let known = AREAS.iter().find(|known| known.name == area);
        found.push(known.with_context(|| format!("{name}: there is no area '{area}'"))?.name);
    }
    found.sort_unstable();
    Ok(found)
}

/// Three digits behind the point.
fn places(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// Four digits that count.
fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use seatrial_model::Unit;
    use seatrial_stats::Better;

    use super::super::{Figure, Paired};
    use super::*;

    fn line(name: &str, ratio: f64, lead: Lead) -> Line {
        let side = |ratio: f64| Side {
            ratio,
            interval: Some(Interval { low: ratio - 0.012_34, high: ratio + 0.01 }),
            rounds: 12,
        };
        let figure =
            Figure { name: name.to_owned(), unit: Unit::Second, better: Better::Lower, goal: Some(1.0) };
        let paired = Paired {
            ours: 0.012_345_6,
            peer: 12_345.6,
            against: side(ratio),
            itself: side(1.0),
            looks: 6,
            standing: Some(Standing::NotResolved),
            lead,
        };
        Line { figure, outcome: Outcome::Compared(paired, "12".to_owned()), disturbed: 2 }
    }

    fn machine(cpu: &str, kernel: &str) -> Hardware {
        Hardware { cpu: cpu.to_owned(), cores: 2, kernel: kernel.to_owned(), gpus: None, driver: None }
    }

    #[test]
    fn a_row_replaces_the_one_of_its_work_and_machine_and_keeps_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let text = || std::fs::read_to_string(path(folder.path(), "memory")).unwrap();
        let (old, new) = (date(2026, 11, 1), date(2026, 11, 29));
        let keep =
            |lines: &[Line], date, machine: &Hardware| keep(folder.path(), "memory", lines, date, machine);
        let both = [line("write vs x", 0.9, Lead::Behind), line("read vs y z", 1.5, Lead::Open(30))];
        keep(&both, old, &machine("A", "6.1")).unwrap();
        keep(&both[..1], old, &machine("B", "6.1")).unwrap();
        let rows = read(folder.path(), "memory").unwrap();
        let names: Vec<(&str, &str)> =
            rows.iter().map(|row| (row.work.as_str(), row.machine.cpu.as_str())).collect();
        assert_eq!(names, [("read vs y z", "A"), ("write vs x", "A"), ("write vs x", "B")]);
        assert_eq!((rows[0].peer.as_deref(), rows[0].lead), (Some("y z"), Lead::Open(30)));
        assert_eq!(
            (rows[1].ours, rows[1].theirs, rows[1].interval),
            (0.012_35, 12_350.0, Some([0.888, 0.91]))
        );
        assert_eq!((rows[1].looks, rows[1].disturbed), (Some(6), Some(2)));

        // Another kernel is the same kind of machine; what is not measured again stays as it is, byte for byte.
        let before = text();
        keep(&[line("write vs x", 1.2, Lead::Ahead)], new, &machine("A", "6.18")).unwrap();
        let after = text();
        let changed: Vec<bool> = before.lines().zip(after.lines()).map(|(old, new)| old != new).collect();
        assert_eq!(changed, [false, true, false]);
        let rows = read(folder.path(), "memory").unwrap();
        assert_eq!((rows[1].date, rows[1].lead, rows.len()), (new, Lead::Ahead, 3));
    }

    #[test]
    fn what_is_written_by_hand_stays_and_what_was_not_taken_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (day, here) = (date(2026, 11, 1), machine("A", "6.1"));
        let keep = |line: Line| {
            keep(folder.path(), "memory", &[line], day, &here).unwrap();
            read(folder.path(), "memory").unwrap().remove(0)
        };
        let mut row = keep(line("write vs x", 0.9, Lead::Behind));
        assert_eq!((row.peer.as_deref(), row.why.as_deref()), (Some("x"), None));
        (row.peer, row.why) = (Some("x 1.0".to_owned()), Some("flushes".to_owned()));
        let file = path(folder.path(), "memory");
        std::fs::write(&file, serde_json::to_string(&row).unwrap()).unwrap();
        let by_hand = |row: Kept| (row.ratio, row.peer.unwrap(), row.why.unwrap());
        let wanted = |ratio: f64| (ratio, "x 1.0".to_owned(), "flushes".to_owned());
        assert_eq!(by_hand(keep(line("write vs x", 0.8, Lead::Behind))), wanted(0.8));
        let outcome = Outcome::NotTaken("crashed".to_owned(), "0".to_owned());
        assert_eq!(by_hand(keep(Line { outcome, ..line("write vs x", 0.5, Lead::Behind) })), wanted(0.8));
        assert_eq!(by_hand(keep(line("write vs x", 1.2, Lead::Ahead))), wanted(1.2));
        let files: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().path()).collect();
        assert_eq!(files, [file]);
    }

    #[test]
    fn a_processor_has_its_numbers_and_its_row_replaces_the_one_without_them() {
        let text = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: A\nstepping\t: 2\n";
        let numbered = processor(text);
        assert_eq!(numbered, "A (family 25, model 1, stepping 2)");
        assert_eq!(processor("processor : 0\nmodel name : B\n"), "B");
        assert_eq!(processor(""), "unknown processor");
        let emulated = "model name : QEMU TCG CPU version 2.5+\ncpu family : 15\nmodel : 107\nstepping : 1\n";
        assert_eq!(processor(emulated), EMULATED);
        let folder = tempfile::tempdir().unwrap();
        for cpu in ["A", "B", &numbered] {
            let here = machine(cpu, "6.1");
            keep(folder.path(), "memory", &[line("write", 1.0, Lead::Level)], date(2026, 11, 1), &here)
                .unwrap();
        }
        let names: Vec<String> =
            read(folder.path(), "memory").unwrap().into_iter().map(|row| row.machine.cpu).collect();
        assert_eq!(names, [numbered.as_str(), "B"]);
    }

    #[test]
    fn other_gpus_are_another_machine_and_another_driver_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let gpus =
            |names: &str, driver: &str| machine("A", "6.1").with_gpus(names.to_owned(), driver.to_owned());
        for here in [machine("A", "6.1"), gpus("1 x X", "1"), gpus("1 x Y", "1"), gpus("1 x X", "2")] {
            let day = date(2026, 11, 1);
            keep(folder.path(), "gpu", &[line("copy", 1.0, Lead::Level)], day, &here).unwrap();
        }
        let names: Vec<String> =
            read(folder.path(), "gpu").unwrap().iter().map(|row| row.machine.to_string()).collect();
        let wanted = ["", "1 x X, driver 2, ", "1 x Y, driver 1, "];
        assert_eq!(names, wanted.map(|gpus| format!("{gpus}A, 2 threads, Linux 6.1")));
    }

    #[test]
    fn a_file_of_no_area_and_a_line_of_no_row_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(path(folder.path(), "memory"), "{}\n").unwrap();
        assert_eq!(areas(folder.path()).unwrap(), ["memory"]);
        assert!(format!("{:#}", read(folder.path(), "memory").unwrap_err()).contains("memory.jsonl, line 1"));
        std::fs::write(path(folder.path(), "sailing"), "").unwrap();
        assert!(areas(folder.path()).unwrap_err().to_string().contains("no area 'sailing'"));
    }
}
