//! Interrupts of a device (ABI/testing/sysfs-bus-pci, `msi_irqs`).

use crate::root::SysRoot;

/// Interrupt numbers of the device in this folder below `/sys/devices`: MSI, else the legacy interrupt. An error says why
/// they are not known.
pub fn interrupts(root: &SysRoot, device: &str) -> Result<Vec<u32>, String> {
    // A virtio device has no interrupts; its PCI function has.
    let (above, name) = device.rsplit_once('/').unwrap_or(("", device));
    let owner = if name.starts_with("virtio") { above } else { device };
    let folder = format!("{owner}/msi_irqs");
    let missing = match root.numbered(&folder, "") {
        Ok(numbers) if !numbers.is_empty() => return Ok(numbers),
        Ok(_) => format!("{folder} is empty"),
        Err(error) => error.to_string(),
    };
    match root.value::<u32>(format!("{owner}/irq")) {
        Ok(number) if number > 0 => Ok(vec![number]),
        _ => Err(missing),
    }
}
