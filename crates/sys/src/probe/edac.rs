//! Memory errors as the drivers of memory controllers count them (Linux admin-guide/RAS/main.rst).

use super::{Counters, Counting, Difference};
use crate::root::{ReadError, SysRoot};

const CONTROLLERS: &str = "/sys/devices/system/edac/mc";

/// What counts errors, and its count.
pub type CountedPart = (String, u64);

/// Counts `corrected` and `uncorrected` over all memory controllers, and of each part with errors, such as
/// `corrected DIMM_A1`.
pub(super) struct Edac;

impl Counting for Edac {
    fn id(&self) -> &'static str {
        "edac"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        for (kind, found) in
            [("corrected", corrected_memory_errors(root)), ("uncorrected", uncorrected_memory_errors(root))]
        {
            match found {
                Ok(parts) if parts.is_empty() => {}
                Ok(parts) => {
                    counters
                        .count(kind, parts.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count)));
                    parts
                        .into_iter()
                        .for_each(|(name, count)| counters.count(format!("{kind} {name}"), count));
                }
                Err(error) => counters.unreadable(error),
            }
        }
        if counters.counts.is_empty() && counters.unreadable.is_empty() {
            counters.unreadable(format_args!("no memory controller in {CONTROLLERS} counts errors"));
        }
        counters
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let mut all = after.since(before);
        all.counts.retain(|name, count| !name.contains(' ') || *count > 0);
        all
    }
}

/// Corrected errors by module, and by controller those of its errors that it places in no module.
pub fn corrected_memory_errors(root: &SysRoot) -> Result<Vec<CountedPart>, ReadError> {
    let mut all = Vec::new();
    for folder in controllers(root)? {
        let modules = modules(root, &folder)?;
        let own = count(root, &folder, "ce_count")?;
        let placed = modules.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        let others = own.map(|(name, count)| (name, count.saturating_sub(placed)));
        all.extend(others.filter(|(_, count)| modules.is_empty() || *count > 0));
        all.extend(modules);
    }
    Ok(all)
}

/// Errors that ECC could not correct, by controller.
pub fn uncorrected_memory_errors(root: &SysRoot) -> Result<Vec<CountedPart>, ReadError> {
    let mut all = Vec::new();
    for folder in controllers(root)? {
        all.extend(count(root, &folder, "ue_count")?);
    }
    Ok(all)
}

fn controllers(root: &SysRoot) -> Result<Vec<String>, ReadError> {
    let numbers = root.numbered(CONTROLLERS, "mc")?;
    Ok(numbers.into_iter().map(|number| format!("{CONTROLLERS}/mc{number}")).collect())
}

/// The count of a controller; `None` where its driver has no such file.
fn count(root: &SysRoot, folder: &str, file: &str) -> Result<Option<CountedPart>, ReadError> {
    let name = folder.rsplit('/').next().unwrap_or(folder).to_owned();
    match root.value(format!("{folder}/{file}")) {
        Ok(count) => Ok(Some((name, count))),
        Err(ReadError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Modules of a controller, which some drivers call ranks.
fn modules(root: &SysRoot, folder: &str) -> Result<Vec<CountedPart>, ReadError> {
    let mut modules = Vec::new();
    for stem in ["dimm", "rank"] {
        for number in root.numbered(folder, stem)? {
            let module = format!("{folder}/{stem}{number}");
            let count = match root.value(format!("{module}/dimm_ce_count")) {
                Ok(count) => count,
                Err(ReadError::Missing { .. }) => continue,
                Err(error) => return Err(error),
            };
            // A label is free text of the firmware or of ras-mc-ctl(8), and may be empty.
            let label = root.text(format!("{module}/dimm_label")).unwrap_or_default();
            let place = module.trim_start_matches(CONTROLLERS).trim_start_matches('/').replace('/', " ");
            let name = if label.is_empty() { place } else { label };
            modules.push((name, count));
        }
    }
    Ok(modules)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn set(root: &SysRoot, file: &str, text: &str) {
        let file = root.locate(format!("{CONTROLLERS}/{file}"));
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    }

    #[test]
    fn the_module_whose_errors_grew_is_named_and_others_are_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        assert!(Edac.read(&root).unreadable[0].contains(CONTROLLERS));
        for (file, text) in [
            ("mc0/ce_count", "4\n"),
            ("mc0/ue_count", "0\n"),
            ("mc0/dimm0/dimm_ce_count", "4\n"),
            ("mc0/dimm0/dimm_label", "DIMM_A1\n"),
            ("mc0/dimm1/dimm_ce_count", "0\n"),
        ] {
            set(&root, file, text);
        }
        let before = Edac.read(&root);
        set(&root, "mc0/dimm0/dimm_ce_count", "7\n");
        let found = Edac.between(&before, &Edac.read(&root));
        let counts: Vec<_> = found.counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(counts, [("corrected", 3), ("corrected DIMM_A1", 3), ("uncorrected", 0)]);
        assert!(found.unreadable.is_empty(), "{found:?}");
        // Linux counts in `ce_count` what it places in a module and what it cannot place.
        set(&root, "mc0/ce_count", "507\n");
        let all = corrected_memory_errors(&root).expect("counts");
        let all: Vec<_> = all.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(all, [("mc0", 500), ("DIMM_A1", 7), ("mc0 dimm1", 0)]);
    }
}
