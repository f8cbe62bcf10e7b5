//! The GPUs of this machine, as `nvidia-smi` tells them.

use std::process::Command;
use std::sync::OnceLock;

use crate::versus::Hardware;
use crate::versus::network::peers::output;

/// What the machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpus {
    /// `2 x NVIDIA H200`.
    pub names: String,
    pub count: usize,
    /// The version of the driver.
    pub driver: String,
}

/// Asked once; none where there is no GPU or no driver.
pub fn gpus() -> Option<&'static Gpus> {
    static GPUS: OnceLock<Option<Gpus>> = OnceLock::new();
    let ask = || {
        let mut command = Command::new("nvidia-smi");
        command.args(["--query-gpu=name,driver_version", "--format=csv,noheader"]);
        output(command).ok().and_then(|text| read(&text))
    };
    GPUS.get_or_init(ask).as_ref()
}

/// This machine with its GPUs.
pub fn machine() -> Hardware {
    let here = Hardware::here();
    match gpus() {
        Some(gpus) => here.with_gpus(gpus.names.clone(), gpus.driver.clone()),
        None => here,
    }
}

/// Why a row is left out that needs so many.
pub fn fewer_than(wanted: usize) -> Option<String> {
    let count = gpus().map_or(0, |gpus| gpus.count);
    (count < wanted).then(|| format!("GPUs that are needed: {wanted}, that nvidia-smi tells: {count}"))
}

fn read(text: &str) -> Option<Gpus> {
    let mut all: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(", ")).collect();
    let (count, driver) = (all.len(), all.first()?.1.trim().to_owned());
    all.dedup();
    let names = match all.as_slice() {
        [(name, _)] => format!("{count} x {name}"),
        all => all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
    };
    Some(Gpus { names, count, driver })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_gpus_are_counted_and_others_named() {
        let two = read("NVIDIA H200, 580.159.04\nNVIDIA H200, 580.159.04\n").unwrap();
        assert_eq!(
            (two.names.as_str(), two.count, two.driver.as_str()),
            ("2 x NVIDIA H200", 2, "580.159.04")
        );
        let mixed = read("NVIDIA A40, 580.1\nNVIDIA L4, 580.1\n").unwrap();
        assert_eq!((mixed.names.as_str(), mixed.count), ("NVIDIA A40, NVIDIA L4", 2));
        assert_eq!(read("No devices were found\n"), None);
    }
}
