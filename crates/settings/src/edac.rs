//! Memory errors as the drivers of memory controllers count them (Linux admin-guide/RAS/main.rst).

use seatrial_sys::root::{ReadError, SysRoot};

use crate::counted::Counted;

const CONTROLLERS: &str = "/sys/devices/system/edac/mc";

/// Corrected errors by module; of a controller that tells no module, or has errors of none of them, its own count.
pub(crate) fn corrected(root: &SysRoot) -> Result<Vec<Counted>, ReadError> {
    let mut all = Vec::new();
    for folder in controllers(root)? {
        let modules = modules(root, &folder)?;
        let own = count(root, &folder, "ce_count")?;
        let is_told =
            modules.iter().any(|module| module.count > 0) || own.as_ref().is_none_or(|own| own.count == 0);
        match is_told && !modules.is_empty() {
            true => all.extend(modules),
            false => all.extend(own),
        }
    }
    Ok(all)
}

pub(crate) fn uncorrected(root: &SysRoot) -> Result<Vec<Counted>, ReadError> {
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
fn count(root: &SysRoot, folder: &str, file: &str) -> Result<Option<Counted>, ReadError> {
    let name = folder.rsplit('/').next().unwrap_or(folder).to_owned();
    match root.value(format!("{folder}/{file}")) {
        Ok(count) => Ok(Some(Counted { name, count })),
        Err(ReadError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Modules of a controller, which some drivers call ranks.
fn modules(root: &SysRoot, folder: &str) -> Result<Vec<Counted>, ReadError> {
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
            modules.push(Counted { name, count });
        }
    }
    Ok(modules)
}
