//! A generated SMBIOS table.

pub struct Module {
    pub locator: String,
    pub bank: &'static str,
    /// SMBIOS type code: 0x1a DDR4, 0x22 DDR5, 0x23 LPDDR5.
    pub kind: u8,
    /// 0 for an empty slot.
    pub gib: u16,
    pub rated: u16,
    pub configured: u16,
}

/// An array of system memory, its devices and the end mark, as in SMBIOS 3.3.
pub fn table(modules: &[Module]) -> Vec<u8> {
    let mut table = vec![0u8; 0x17];
    table[..6].copy_from_slice(&[16, 0x17, 0x10, 0, 3, 3]);
    table.extend([0, 0]);
    for module in modules {
        let mut area = [0u8; 0x5c];
        let mut put = |at: usize, value: u16| area[at..at + 2].copy_from_slice(&value.to_le_bytes());
        put(0x00, u16::from_le_bytes([17, 0x5c]));
        put(0x04, 0x10);
        put(0x08, 80);
        put(0x0a, 64);
        // Bit 15 clear: the size is in MiB, up to 32 GiB.
        put(0x0c, module.gib << 10);
        put(0x10, u16::from_le_bytes([1, 2]));
        put(0x12, module.kind.into());
        put(0x15, module.rated);
        put(0x20, module.configured);
        table.extend(area);
        table.extend(format!("{}\0{}\0\0", module.locator, module.bank).bytes());
    }
    table.extend([127, 4, 0xff, 0xff, 0, 0]);
    table
}
