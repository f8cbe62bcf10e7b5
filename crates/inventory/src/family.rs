//! Processor families and the fastest memory that their largest processors support.
//!
//! What a machine has may be less: fewer channels in use, slower modules, a smaller processor of the family. A virtual
//! machine shows the name that its host chose. The numbers are therefore the highest that a limit can be, never a limit.

use std::ops::RangeInclusive;

use seatrial_model::machine::{Known, ProcessorFamily};

use crate::keyed::Keyed;

/// Family, models and steppings of CPUID, or implementer and parts of Arm's main ID register, as `/proc/cpuinfo` shows them.
enum Signature {
    X86 { vendor: &'static str, family: u32, models: RangeInclusive<u32>, steppings: RangeInclusive<u32> },
    Arm { implementer: u32, part: u32 },
}

struct Row {
    signature: Signature,
    /// A word of the model name; empty where the signature is enough.
    named: &'static str,
    /// A word of the model name of processors with another memory controller.
    unless: &'static str,
    name: &'static str,
    /// Channels of a socket, MT/s, bytes of a transfer.
    memory: (u32, u32, u32),
    source: &'static str,
}

const fn xeon(model: u32, name: &'static str, channels: u32, mts: u32, source: &'static str) -> Row {
    let signature =
        Signature::X86 { vendor: "GenuineIntel", family: 6, models: model..=model, steppings: 0..=u32::MAX };
    Row { signature, named: "Xeon", unless: "", name, memory: (channels, mts, 8), source }
}

/// Processors of model 85 are told apart by their stepping alone (Intel's specification updates).
const fn xeon_85(steppings: RangeInclusive<u32>, name: &'static str, mts: u32, source: &'static str) -> Row {
    let signature = Signature::X86 { vendor: "GenuineIntel", family: 6, models: 85..=85, steppings };
    Row { signature, ..xeon(85, name, 6, mts, source) }
}

const fn epyc(
    family: u32,
    models: RangeInclusive<u32>,
    name: &'static str,
    channels: u32,
    mts: u32,
    source: &'static str,
) -> Row {
    let signature = Signature::X86 { vendor: "AuthenticAMD", family, models, steppings: 0..=u32::MAX };
    Row { signature, named: "EPYC", unless: "", name, memory: (channels, mts, 8), source }
}

const fn arm(
    (implementer, part): (u32, u32),
    name: &'static str,
    memory: (u32, u32, u32),
    source: &'static str,
) -> Row {
    let signature = Signature::Arm { implementer, part };
    Row { signature, named: "", unless: "", name, memory, source }
}

/// Models of CPUID: Linux arch/x86/include/asm/intel-family.h, AMD's processor programming references; parts of Arm: Linux
/// arch/arm64/include/asm/cputype.h.
static FAMILIES: &[Row] = &[
    // Xeon E7 reach their modules through buffers.
    Row {
        unless: "E7-",
        ..xeon(63, "Intel Xeon E5 v3 (Haswell-EP)", 4, 2133, "Intel, Xeon E5-2699 v3 specifications")
    },
    Row {
        unless: "E7-",
        ..xeon(79, "Intel Xeon E5 v4 (Broadwell-EP)", 4, 2400, "Intel, Xeon E5-2699 v4 specifications")
    },
    xeon(86, "Intel Xeon D-1500 (Broadwell-DE)", 2, 2400, "Intel, Xeon D-1587 specifications"),
    xeon_85(0..=4, "Intel Xeon Scalable (Skylake-SP)", 2666, "Intel, Xeon Platinum 8180 specifications"),
    // Two dies of six channels are one processor of the Platinum 9200.
    Row {
        unless: "Platinum 92",
        ..xeon_85(
            5..=9,
            "Intel Xeon Scalable 2 (Cascade Lake-SP)",
            2933,
            "Intel, Xeon Platinum 8280 specifications",
        )
    },
    xeon_85(
        10..=u32::MAX,
        "Intel Xeon Scalable 3 (Cooper Lake)",
        3200,
        "Intel, Xeon Platinum 8380H specifications",
    ),
    xeon(106, "Intel Xeon Scalable 3 (Ice Lake-SP)", 8, 3200, "Intel, Xeon Platinum 8380 specifications"),
    xeon(108, "Intel Xeon D-2700 (Ice Lake-D)", 4, 3200, "Intel, Xeon D-2796NT specifications"),
    // Xeon Max has memory in its package.
    Row {
        unless: "Max",
        ..xeon(
            143,
            "Intel Xeon Scalable 4 (Sapphire Rapids)",
            8,
            4800,
            "Intel, Xeon Platinum 8490H specifications",
        )
    },
    xeon(207, "Intel Xeon Scalable 5 (Emerald Rapids)", 8, 5600, "Intel, Xeon Platinum 8592+ specifications"),
    xeon(
        173,
        "Intel Xeon 6 (Granite Rapids)",
        12,
        8800,
        "Intel, Xeon 6980P specifications: MRDIMM; 6400 MT/s with RDIMM",
    ),
    xeon(
        175,
        "Intel Xeon 6 (Sierra Forest)",
        12,
        6400,
        "Wikipedia, Sierra Forest: 12 channels in Sierra Forest-AP",
    ),
    epyc(0x17, 0x00..=0x0f, "AMD EPYC 7001 (Naples)", 8, 2666, "AMD, EPYC 7001 series data sheet"),
    epyc(0x17, 0x30..=0x3f, "AMD EPYC 7002 (Rome)", 8, 3200, "AMD, EPYC 7002 series data sheet"),
    epyc(0x19, 0x00..=0x0f, "AMD EPYC 7003 (Milan)", 8, 3200, "AMD, EPYC 7003 series data sheet"),
    epyc(0x19, 0x10..=0x1f, "AMD EPYC 9004 (Genoa)", 12, 4800, "AMD, EPYC 9004 series data sheet"),
    epyc(
        0x19,
        0xa0..=0xaf,
        "AMD EPYC 9004, 8004 (Bergamo, Siena)",
        12,
        4800,
        "AMD, EPYC 9004 series data sheet",
    ),
    epyc(0x1a, 0x00..=0x1f, "AMD EPYC 9005 (Turin)", 12, 6400, "AMD, EPYC 9005 series data sheet"),
    arm(
        (0x41, 0xd0c),
        "Neoverse N1 (Ampere Altra, AWS Graviton2)",
        (8, 3200, 8),
        "Ampere, Altra and Altra Max data sheets; AWS, Graviton2",
    ),
    arm((0x41, 0xd40), "Neoverse V1 (AWS Graviton3)", (8, 4800, 8), "AWS, Graviton3"),
    // NVIDIA Grace has LPDDR5X of 512 GB/s (NVIDIA, Grace CPU data sheet), which is a little less.
    arm((0x41, 0xd4f), "Neoverse V2 (AWS Graviton4, NVIDIA Grace)", (12, 5600, 8), "AWS, Graviton4"),
    arm((0xc0, 0xac3), "AmpereOne", (8, 5200, 8), "Ampere, AmpereOne product brief"),
    arm((0xc0, 0xac4), "AmpereOne, AmpereOne M", (12, 5600, 8), "Ampere, AmpereOne M product brief"),
    // Most servers run it at 2933 MT/s; no DDR4 is faster than this.
    arm((0x48, 0xd01), "HiSilicon Kunpeng 920", (8, 3200, 8), "JEDEC, JESD79-4 (DDR4): at most 3200 MT/s"),
    // Four stacks of HBM2 with eight channels of 128 bits each.
    arm((0x46, 0x001), "Fujitsu A64FX", (32, 2000, 16), "Fujitsu, A64FX data sheet: 1024 GB/s"),
];

/// The family of the processor that `/proc/cpuinfo` shows.
pub(crate) fn of(info: &Keyed) -> Known<ProcessorFamily> {
    let number = |key: &str| info.get(key).and_then(|text| text.parse::<u32>().ok());
    let model_name = info.get("model name").unwrap_or_default();
    let is_shown = |row: &&Row| match &row.signature {
        Signature::X86 { vendor, family, models, steppings } => {
            info.get("vendor_id") == Some(*vendor)
                && number("cpu family") == Some(*family)
                && number("model").is_some_and(|model| models.contains(&model))
                && number("stepping").is_some_and(|stepping| steppings.contains(&stepping))
        }
        Signature::Arm { implementer, part } => {
            info.hex("CPU implementer") == Some(*implementer) && info.hex("CPU part") == Some(*part)
        }
    };
    let is_named = |row: &&Row| {
        model_name.contains(row.named) && (row.unless.is_empty() || !model_name.contains(row.unless))
    };
    match FAMILIES.iter().find(|row| is_shown(row) && is_named(row)) {
        Some(row) => {
            let (channels, mts, channel_bytes) = row.memory;
            let (name, source) = (row.name.to_owned(), row.source.to_owned());
            Known::Known(ProcessorFamily { name, channels, mts, channel_bytes, source })
        }
        None => Known::unknown("the processor is not in the table of processor families"),
    }
}

#[cfg(test)]
mod tests {
    use seatrial_sys::root::{SysRoot, Tree};

    use super::*;

    fn shown(cpuinfo: &str) -> Known<ProcessorFamily> {
        let mut tree = Tree::default();
        tree.file("/proc/cpuinfo", cpuinfo.as_bytes());
        of(&Keyed::read(&SysRoot::of(tree), "/proc/cpuinfo").unwrap())
    }

    fn x86(vendor: &str, family: u32, model: u32, stepping: u32, name: &str) -> String {
        format!(
            "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: {name}\n\
             stepping\t: {stepping}\n"
        )
    }

    /// Channels and MT/s of a Xeon.
    fn xeon(model: u32, stepping: u32, name: &str) -> Option<(u32, u32)> {
        let family = shown(&x86("GenuineIntel", 6, model, stepping, name));
        family.known().map(|family| (family.channels, family.mts))
    }

    #[test]
    fn families_are_found_by_model_and_stepping() {
        assert_eq!(xeon(106, 6, "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"), Some((8, 3200)));
        let of_85 = |stepping| xeon(85, stepping, "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz");
        assert_eq!([of_85(4), of_85(7), of_85(11)], [Some((6, 2666)), Some((6, 2933)), Some((6, 3200))]);
        let milan = shown(&x86("AuthenticAMD", 25, 1, 1, "AMD EPYC 7R13 Processor"));
        assert_eq!(milan.known().map(|family| family.name.as_str()), Some("AMD EPYC 7003 (Milan)"));
    }

    #[test]
    fn processors_with_another_memory_controller_are_of_no_family() {
        assert_eq!(xeon(85, 7, "Intel(R) Xeon(R) Platinum 9282 CPU @ 2.60GHz"), None);
        assert_eq!(xeon(143, 8, "Intel(R) Xeon(R) CPU Max 9480"), None);
        assert_eq!(xeon(63, 4, "Intel(R) Xeon(R) CPU E7-8890 v3 @ 2.50GHz"), None);
        assert_eq!(xeon(85, 4, "Intel(R) Core(TM) i9-7980XE CPU @ 2.60GHz"), None);
        let desktop = shown(&x86("AuthenticAMD", 23, 1, 1, "AMD Ryzen 7 1700 Eight-Core Processor"));
        assert_eq!(desktop.why(), Some("the processor is not in the table of processor families"));
    }

    #[test]
    fn arm_processors_are_found_by_implementer_and_part() {
        let arm = |implementer: &str, part: &str| {
            shown(&format!("processor\t: 0\nCPU implementer\t: {implementer}\nCPU part\t: {part}\n"))
        };
        let bytes = |family: Known<ProcessorFamily>| {
            family
                .known()
                .map(|family| u64::from(family.channels * family.mts) * u64::from(family.channel_bytes))
        };
        assert_eq!(bytes(arm("0x41", "0xd40")), Some(307_200));
        assert_eq!(bytes(arm("0x46", "0x001")), Some(1_024_000));
        assert_eq!(bytes(arm("0x46", "0xd40")), None);
        assert_eq!(bytes(shown("")), None);
    }

    #[test]
    fn every_row_names_its_source() {
        for row in FAMILIES {
            assert!(!row.name.is_empty() && row.source.contains(", "), "{}: {}", row.name, row.source);
            let (channels, mts, bytes) = row.memory;
            assert!(channels > 0 && mts > 1000 && bytes.is_power_of_two(), "{}", row.name);
        }
    }
}
