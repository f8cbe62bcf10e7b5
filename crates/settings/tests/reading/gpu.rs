//! Versions, modes and errors of GPUs, from the inventory.

use seatrial_model::machine::{Gpu, GpuState, Known};

use crate::tree::Tree;

fn known<T>(value: T) -> Known<T> {
    Known::Known(value)
}

fn host(change: impl Fn(&mut Gpu) + Copy) -> Tree {
    Tree::new().machine(|machine| {
        let mut gpu = Gpu {
            is_cut: known(false),
            compute_mode: known("default".to_owned()),
            persistence: known(true),
            nvlinks: known(vec!["?".to_owned(); 18]),
            state: GpuState {
                driver: known("570.86".to_owned()),
                ecc: known(true),
                power_limit_milliwatts: known(700_000),
                default_power_limit_milliwatts: known(700_000),
                corrected_errors: known(3),
                uncorrected_errors: known(0),
                remapped_rows: known(0),
                is_remap_pending: known(false),
                has_remap_failed: known(false),
                retired_pages: known(2),
                nvlink_errors: known(5),
                application_clock_mhz: known(1980),
                default_application_clock_mhz: known(1980),
                ..GpuState::default()
            },
            ..Gpu::default()
        };
        change(&mut gpu);
        machine.gpus = known(vec![gpu]);
    })
}

#[test]
fn each_gpu_has_its_versions_modes_and_errors() {
    let tree = host(|_| ());
    for (id, line) in [
        ("gpu.driver", "gpu:0: 570.86"),
        ("gpu.persistence", "gpu:0: true"),
        ("gpu.compute_mode", "gpu:0: default"),
        ("gpu.mig", "gpu:0: false"),
        ("gpu.ecc", "gpu:0: true"),
        ("gpu.power_limit", "gpu:0: 700"),
        ("gpu.nvlinks", "gpu:0: 18"),
        ("state.gpu_corrected", "gpu:0: 3"),
        ("state.gpu_uncorrected", "gpu:0: 0"),
        ("state.gpu_rows_remapped", "gpu:0: 0"),
        ("state.gpu_remap_pending", "gpu:0: false"),
        ("state.gpu_remap_failed", "gpu:0: false"),
        ("state.gpu_pages_retired", "gpu:0: 2"),
        ("state.gpu_nvlink_errors", "gpu:0: 5"),
        ("gpu.application_clock", "gpu:0: 1980"),
    ] {
        assert_eq!(tree.line(id), line, "{id}");
    }
}

#[test]
fn a_power_limit_that_is_not_that_of_the_card_is_noted() {
    let tree = host(|gpu| gpu.state.power_limit_milliwatts = known(500_000));
    assert_eq!(tree.line("gpu.power_limit"), "gpu:0: 500 (the card has 700 W by default)");
    let tree = host(|gpu| gpu.state.application_clock_mhz = known(1200));
    assert_eq!(tree.line("gpu.application_clock"), "gpu:0: 1200 (the card has 1980 MHz by default)");
}

#[test]
fn what_the_library_does_not_tell_is_unreadable_with_its_reason() {
    let tree = host(|gpu| gpu.state = GpuState::unknown("libnvidia-ml.so.1 not found"));
    for id in ["gpu.vbios", "gpu.power_limit", "state.gpu_remap_pending"] {
        assert_eq!(tree.line(id), "gpu:0: unreadable: libnvidia-ml.so.1 not found", "{id}");
    }
    let none = Tree::new().machine(|machine| machine.gpus = known(Vec::new()));
    assert!(none.line("gpu.driver").ends_with("there is no GPU"), "{}", none.line("gpu.driver"));
}

#[test]
fn faults_in_the_kernel_log_are_counted_without_those_of_programs_and_told_with_their_meaning() {
    let log = "\
        6,1,100,-;Linux version 6.1.0\n\
        4,2,200,-;NVRM: Xid (PCI:0000:3b:00): 31, pid=77, name=a.out, MMU Fault\n\
        4,3,300,-;NVRM: Xid (PCI:0000:5e:00): 79, pid='<unknown>', GPU has fallen off the bus.\n\
        4,4,400,-;NVRM: Xid (PCI:0000:5e:00): 79, pid='<unknown>', GPU has fallen off the bus.\n\
        12,5,500,-;NVRM: Xid (PCI:0000:5e:00): 48, written by a program\n";
    let line = host(|_| ()).file("/dev/kmsg", log).line("state.gpu_xids");
    assert_eq!(
        line,
        "node: 2 (Xid 31 of 0000:3b:00 (access to memory that is not mapped, mostly of the program); \
         Xid 79 of 0000:5e:00 (the GPU fell off the PCI bus), 2 times)"
    );
    assert_eq!(host(|_| ()).file("/dev/kmsg", "6,1,100,-;Linux\n").line("state.gpu_xids"), "node: 0");
    assert!(host(|_| ()).line("state.gpu_xids").starts_with("node: unreadable: /dev/kmsg does not exist"));
}
