//! Errors of the memory of GPUs.

use seatrial_model::machine::Known;
use seatrial_model::setting::SettingAbout;
use seatrial_model::{Kind, Value};

use crate::devices::Found;
use crate::gpus::{ABOUT as OF_GPU, OfGpu, flag};

const RESET: &str = "end all programs on the GPU and reset it (`nvidia-smi --gpu-reset -i N`), or boot";

/// NVIDIA, "GPU Memory Error Management", for all of them.
const ABOUT: SettingAbout = SettingAbout {
    kind: Kind::Count(0, u64::MAX),
    unit: "errors",
    source: "libnvidia-ml (nvmlDeviceGetTotalEccErrors, volatile)",
    remedy: RESET,
    traps: "A counter, which starts when the driver is loaded.",
    ..OF_GPU
};

fn count(known: &Known<u64>) -> Found {
    match known {
        Known::Known(count) => Found::counted(Value::Count(*count), *count),
        Known::Unknown(why) => Found::unreadable(why),
    }
}

pub static GPU_CORRECTED: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "state.gpu_corrected",
        title: "corrected memory errors of a GPU",
        doc: "Wrong bits that ECC corrected since the driver was loaded. Some are normal; a row with several is replaced by \
              a spare one.",
        ..ABOUT
    },
    find: |gpu| count(&gpu.state.corrected_errors),
};

pub static GPU_UNCORRECTED: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "state.gpu_uncorrected",
        title: "uncorrected memory errors of a GPU",
        doc: "Errors that ECC found and could not correct since the driver was loaded: the program that read the data was \
              ended. The row is replaced by a spare one at the next reset.",
        ..ABOUT
    },
    find: |gpu| count(&gpu.state.uncorrected_errors),
};

pub static GPU_ROWS_REMAPPED: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "state.gpu_rows_remapped",
        title: "replaced rows of the memory of a GPU",
        doc: "Rows with errors for which the GPU uses spare rows, over its life. A bank has a few spare rows only: a number \
              that grows announces the end of the card.",
        unit: "rows",
        source: "libnvidia-ml (nvmlDeviceGetRemappedRows)",
        remedy: "nothing while it does not grow; then have the card replaced",
        traps: "Nothing sets it back. GPUs before compute capability 8.0 retire pages instead.",
        ..ABOUT
    },
    find: |gpu| count(&gpu.state.remapped_rows.as_ref().map(|&rows| rows.into())),
};

pub static GPU_REMAP_PENDING: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "state.gpu_remap_pending",
        title: "GPU that has to be reset to replace a row",
        doc: "A row of the memory had an error that could not be corrected, and the spare row takes its place only at the \
              next reset. Until then programs may meet the error again.",
        kind: Kind::Flag,
        unit: "",
        source: "libnvidia-ml (nvmlDeviceGetRemappedRows)",
        traps: "Set by the GPU, until it is reset.",
        ..ABOUT
    },
    find: |gpu| flag(&gpu.state.is_remap_pending),
};

pub static GPU_REMAP_FAILED: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "state.gpu_remap_failed",
        title: "GPU that could not replace a row",
        doc: "A row of the memory has an error and there was no spare row for it: programs meet the error again and again.",
        kind: Kind::Flag,
        unit: "",
        source: "libnvidia-ml (nvmlDeviceGetRemappedRows)",
        remedy: "have the card replaced",
        traps: "Nothing sets it back.",
        ..ABOUT
    },
    find: |gpu| flag(&gpu.state.has_remap_failed),
};

pub static GPU_PAGES_RETIRED: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "state.gpu_pages_retired",
        title: "retired pages of the memory of a GPU",
        doc: "Pages with errors that the driver does not use any more, over the life of the card. Cards before compute \
              capability 8.0 have room for 64; later ones replace rows instead.",
        unit: "pages",
        source: "libnvidia-ml (nvmlDeviceGetRetiredPages)",
        remedy: "nothing while it does not grow; then have the card replaced",
        traps: "Nothing sets it back.",
        ..ABOUT
    },
    find: |gpu| count(&gpu.state.retired_pages.as_ref().map(|&pages| pages.into())),
};

pub static GPU_NVLINK_ERRORS: OfGpu = OfGpu {
    about: &SettingAbout {
        id: "state.gpu_nvlink_errors",
        title: "errors of the NVLinks of a GPU",
        doc: "Replays, recoveries and wrong checksums of flits of all links together, as `nvidia-smi nvlink -e` shows them. Each costs time, and a link with many is lost in \
              the end: collectives then wait for this GPU.",
        source: "libnvidia-ml (nvmlDeviceGetNvLinkErrorCounter)",
        remedy: "run `nvidia-smi nvlink -e -i N` to see the link, then reseat or replace the card or the cable",
        ..ABOUT
    },
    find: |gpu| count(&gpu.state.nvlink_errors),
};
