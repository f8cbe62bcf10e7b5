//! Versions and modes of GPUs: `gpu.driver`, `gpu.vbios`, `gpu.inforom`, `gpu.persistence`, `gpu.compute_mode`, `gpu.mig`,
//! `gpu.ecc`, `gpu.power_limit` and `gpu.nvlinks`.

use seatrial_model::setting::{ApplyCommand, SettingAbout};
use seatrial_model::{Kind, Value};

use crate::devices::Found;
use crate::gpus::{ABOUT, OfGpu, flag, text};

const ONE_OR_ZERO: &[(&str, &str)] = &[("true", "1"), ("false", "0")];

pub static DRIVER: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.driver",
        title: "version of the driver of a GPU",
        doc: "All nodes of a cluster should have one version: libraries such as NCCL choose other ways with another driver, \
              and a node with an old one is slower or does not start a job that the others run.",
        source: "libnvidia-ml (nvmlSystemGetDriverVersion)",
        remedy: "install the package of the driver that the other nodes have, and boot",
        traps: "The modules of the kernel and the libraries must be of one version.",
        ..ABOUT
    },
    find: |gpu| text(&gpu.state.driver),
};

pub static VBIOS: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.vbios",
        title: "version of the firmware of a GPU (VBIOS)",
        doc: "It sets the limits of power and clock of the card. Cards of one product should have one version; single slow \
              GPUs often have a different one, as they were replaced.",
        source: "libnvidia-ml (nvmlDeviceGetVbiosVersion)",
        remedy: "ask the vendor of the machine for the version that the other cards have",
        traps: "Written by the vendor's tool; it holds after a boot.",
        ..ABOUT
    },
    find: |gpu| text(&gpu.state.vbios),
};

pub static INFOROM: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.inforom",
        title: "version of the InfoROM of a GPU",
        doc: "The InfoROM holds the configuration of the card and the errors that it has had. A card that does not tell its \
              version has a damaged one, as `nvidia-smi` warns, and may forget its settings and errors.",
        source: "libnvidia-ml (nvmlDeviceGetInforomImageVersion)",
        remedy: "ask the vendor of the machine for the version that the other cards have",
        traps: "Written by the vendor's tool; it holds after a boot.",
        ..ABOUT
    },
    find: |gpu| text(&gpu.state.inforom),
};

pub static PERSISTENCE: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.persistence",
        title: "persistence mode of a GPU",
        doc: "With it the driver keeps the GPU initialised while no program uses it. Without, the first program waits for a \
              second or more at each start, and clocks, power limits and compute modes that were set are lost when the last \
              program ends.",
        kind: Kind::Flag,
        source: "libnvidia-ml (nvmlDeviceGetPersistenceMode)",
        apply: &[ApplyCommand {
            words: ONE_OR_ZERO,
            file: "/gpu/{name}/persistence",
            ..ApplyCommand::always("nvidia-smi -i {name} -pm {value}")
        }],
        traps: "Lost at the next boot; the service nvidia-persistenced sets it at every boot.",
        ..ABOUT
    },
    find: |gpu| flag(&gpu.persistence),
};

pub static COMPUTE_MODE: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.compute_mode",
        title: "compute mode of a GPU",
        doc: "default lets several programs share the GPU, exclusive lets one process use it at a time, so a second one, \
              such as another rank of MPI, fails at its start; prohibited lets none.",
        kind: Kind::Choice(&["default", "exclusive", "prohibited"]),
        source: "libnvidia-ml (nvmlDeviceGetComputeMode)",
        apply: &[ApplyCommand {
            words: &[("default", "0"), ("exclusive", "3"), ("prohibited", "2")],
            file: "/gpu/{name}/compute_mode",
            ..ApplyCommand::always("nvidia-smi -i {name} -c {value}")
        }],
        traps: "Lost at the next boot, and without persistence mode when the last program ends. Some schedulers set it for \
                each job.",
        ..ABOUT
    },
    find: |gpu| text(&gpu.compute_mode),
};

pub static MIG: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.mig",
        title: "GPU divided into instances (MIG)",
        doc: "A divided GPU has instances with a part of its processors and memory each. A program sees one instance, and \
              traffic between GPUs over NVLink is off.",
        kind: Kind::Flag,
        source: "libnvidia-ml (nvmlDeviceGetMigMode)",
        apply: &[ApplyCommand { words: ONE_OR_ZERO, ..ApplyCommand::always("nvidia-smi -i {name} -mig {value}") }],
        traps: "No program may use the GPU meanwhile, and it is reset. It holds over a boot.",
        ..ABOUT
    },
    find: |gpu| flag(&gpu.is_cut),
};

pub static ECC: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.ecc",
        title: "ECC of the memory of a GPU",
        doc: "ECC corrects single wrong bits of the memory and finds double ones. Without it results may be wrong and nobody \
              is told. On cards with HBM it costs no bandwidth, on cards with GDDR it costs bandwidth and room.",
        kind: Kind::Flag,
        source: "libnvidia-ml (nvmlDeviceGetEccMode)",
        apply: &[ApplyCommand { words: ONE_OR_ZERO, ..ApplyCommand::always("nvidia-smi -i {name} -e {value}") }],
        traps: "It holds after a reset of the GPU or a boot.",
        ..ABOUT
    },
    find: |gpu| flag(&gpu.state.ecc),
};

pub static POWER_LIMIT: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.power_limit",
        title: "power limit of a GPU",
        doc: "The GPU lowers its clock when it would take more. A limit below that of the card makes matrix products slower, \
              and on one GPU of many it makes all wait for it.",
        kind: Kind::Number(0.0, 100_000.0),
        unit: "W",
        source: "libnvidia-ml (nvmlDeviceGetEnforcedPowerLimit)",
        apply: &[ApplyCommand {
            file: "/gpu/{name}/power_limit",
            ..ApplyCommand::always("nvidia-smi -i {name} -pl {value}")
        }],
        traps: "Lost at the next boot, and without persistence mode when the last program ends. Power supply and cooling must \
                bear what all GPUs take together.",
        ..ABOUT
    },
    find: |gpu| {
        let watts = |milliwatts: &u32| f64::from(*milliwatts) / 1000.0;
        let limit = gpu.state.power_limit_milliwatts.as_ref().map(watts);
        let own = gpu.state.default_power_limit_milliwatts.known().map(watts);
        let differs = own.filter(|own| limit.known().is_some_and(|limit| limit != own));
        Found::known(limit.map(Value::Number)).noted(differs.map(|own| format!("the card has {own} W by default")))
    },
};

pub static APPLICATION_CLOCK: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.application_clock",
        title: "application clock of a GPU",
        doc: "The clock of the multiprocessors while programs run, as far as power and heat allow. A card that is set to a \
              lower one is slower than the others. Clocks that `nvidia-smi -lgc` has locked cannot be read from the library: a \
              measurement shows them.",
        kind: Kind::Count(0, 100_000),
        unit: "MHz",
        source: "libnvidia-ml (nvmlDeviceGetApplicationsClock)",
        apply: &[ApplyCommand {
            file: "/gpu/{name}/application_clock",
            ..ApplyCommand::always(
                "nvidia-smi -i {name} -ac $(nvidia-smi -i {name} --query-gpu=clocks.applications.mem \
                 --format=csv,noheader,nounits),{value}",
            )
        }],
        traps: "The card takes only the clocks that `nvidia-smi -q -d SUPPORTED_CLOCKS` lists. Lost at the next boot, and \
                without persistence mode when the last program ends.",
        ..ABOUT
    },
    find: |gpu| {
        let clock = gpu.state.application_clock_mhz.as_ref().map(|&mhz| Value::Count(mhz.into()));
        let own = gpu.state.default_application_clock_mhz.known();
        let differs = own.filter(|own| gpu.state.application_clock_mhz.known().is_some_and(|now| now != *own));
        Found::known(clock).noted(differs.map(|own| format!("the card has {own} MHz by default")))
    },
};

pub static NVLINKS: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "gpu.nvlinks",
        title: "active NVLinks of a GPU",
        doc: "Every link that is lost takes its share of the bandwidth between GPUs, and collectives wait for the slowest \
              GPU. GPUs of one product should have the same number.",
        kind: Kind::Count(0, 1024),
        unit: "links",
        source: "libnvidia-ml (nvmlDeviceGetNvLinkState)",
        remedy: "read the Xids of `dmesg`, run `nvidia-smi nvlink -s -i N`, reset the GPU, then reseat or replace the card",
        traps: "With switches (NVSwitch) the service nvidia-fabricmanager has to run.",
        ..ABOUT
    },
    find: |gpu| Found::known(gpu.nvlinks.as_ref().map(|links| Value::Count(links.len() as u64))),
};
