//! A tree of files for a host.

use std::fs;

use seatrial_model::machine::{Known, Machine, Virtualization};
use seatrial_model::setting::{Present, SettingReading};
use seatrial_sys::root::SysRoot;

pub struct Tree {
    dir: tempfile::TempDir,
    machine: Machine,
}

impl Tree {
    /// A host with only the roots of `/sys` and `/proc/sys`.
    pub fn new() -> Self {
        let tree = Self::bare();
        for folder in ["/sys/devices/system/cpu", "/proc/sys"] {
            fs::create_dir_all(tree.root().locate(folder)).expect("made");
        }
        tree
    }

    pub fn bare() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder"), machine: Machine::default() }
    }

    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let at = self.root().locate(path);
        fs::create_dir_all(at.parent().expect("a parent")).expect("made");
        fs::write(at, content).expect("written");
        self
    }

    pub fn files(self, folder: &str, files: &[(&str, &str)]) -> Self {
        files.iter().fold(self, |tree, (name, content)| tree.file(&format!("{folder}/{name}"), content))
    }

    pub fn virtual_machine(mut self) -> Self {
        self.machine.virtualization =
            Known::Known(Virtualization { hypervisor: Some("kvm".to_owned()), container: None });
        self
    }

    pub fn container(mut self) -> Self {
        self.machine.virtualization =
            Known::Known(Virtualization { hypervisor: None, container: Some("podman".to_owned()) });
        self
    }

    pub fn machine(mut self, change: impl FnOnce(&mut Machine)) -> Self {
        change(&mut self.machine);
        self
    }

    pub fn with_machine<T>(&self, using: impl FnOnce(&Machine) -> T) -> T {
        using(&self.machine)
    }

    pub fn root(&self) -> SysRoot {
        SysRoot::at(self.dir.path())
    }

    pub fn read(&self, setting: &str) -> Vec<SettingReading> {
        let registry = seatrial_settings::registry();
        let found = registry.find(setting).unwrap_or_else(|| panic!("no setting {setting}"));
        let readings = found.read(&self.root(), &self.machine);
        assert!(readings.iter().all(|reading| reading.setting == setting), "{readings:#?}");
        readings
    }

    pub fn read_all(&self) -> Vec<SettingReading> {
        seatrial_settings::read_all(&self.root(), &self.machine)
    }

    /// The readings of one setting, one line each: `node: performance`, `node: absent: why`, with notes in brackets.
    pub fn lines(&self, setting: &str) -> Vec<String> {
        self.read(setting).iter().map(line).collect()
    }

    #[track_caller]
    pub fn line(&self, setting: &str) -> String {
        let mut lines = self.lines(setting);
        assert_eq!(lines.len(), 1, "{lines:#?}");
        lines.remove(0)
    }

    #[track_caller]
    pub fn command(&self, setting: &str, wanted: &str) -> Option<String> {
        let registry = seatrial_settings::registry();
        let about = registry.find(setting).expect("a setting").about();
        let wanted = about.split(wanted).into_iter().map(|part| about.parse(part).expect("a value"));
        let wanted: Vec<_> = wanted.collect();
        about.command(&self.read(setting)[0], &seatrial_model::setting::SettingAbout::join(&wanted))
    }
}

fn line(reading: &SettingReading) -> String {
    let note = reading.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    let present = match &reading.present {
        Present::Value(value) => value.to_string(),
        Present::Absent(why) => format!("absent: {why}"),
        Present::Unreadable(why) => format!("unreadable: {why}"),
    };
    format!("{}: {present}{note}", reading.subject)
}
