//! What settings of GPUs have in common: a reading for each GPU of the inventory.

use seatrial_model::machine::{Gpu, Known, Machine};
use seatrial_model::setting::{Privilege, SettingAbout, SettingFile, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct OfGpu {
    pub(crate) about: &'static SettingAbout,
    pub(crate) find: fn(&Gpu) -> Found,
}

/// What most of them share.
pub(crate) const ABOUT: SettingAbout = SettingAbout {
    id: "",
    title: "",
    doc: "",
    kind: Kind::Text,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "gpu",
    facts: Gpu::FACTS,
    source: "",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "",
    traps: "",
};

impl Setting for OfGpu {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, _: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.gpus, "there is no GPU", |gpu| {
            Some(Device { name: gpu.index.to_string(), facts: gpu.facts(), found: (self.find)(gpu) })
        })
    }

    /// The path of the definition has the number of the GPU; that of its PCI address holds when another GPU is lost.
    fn files(
        &self,
        _: &SysRoot,
        machine: &Machine,
        reading: &SettingReading,
        file: SettingFile,
    ) -> Result<Vec<SettingFile>, String> {
        let number = reading.subject.as_str().trim_start_matches("gpu:");
        let mut gpus = machine.gpus.listed().iter();
        let gpu = gpus.find(|gpu| gpu.index.to_string() == number);
        let gpu = gpu.ok_or_else(|| format!("there is no GPU {number} now"))?;
        let path = file.path.replacen(&format!("/gpu/{number}/"), &format!("/gpu/{}/", gpu.pci.address), 1);
        Ok(vec![SettingFile { path, ..file }])
    }
}

pub(crate) fn text(known: &Known<String>) -> Found {
    Found::known(known.as_ref().map(|text| Value::from(text.as_str())))
}

pub(crate) fn flag(known: &Known<bool>) -> Found {
    Found::known(known.as_ref().map(|&set| Value::Flag(set)))
}
