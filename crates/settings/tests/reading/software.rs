//! Versions, the command line and mitigations.

use crate::tree::Tree;

const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

#[test]
fn versions_are_the_text_of_their_files() {
    let tree = Tree::new()
        .file("/proc/sys/kernel/osrelease", "6.1.0-28-amd64\n")
        .file("/sys/devices/system/cpu/cpu0/microcode/version", "0x2b000603\n")
        .file("/sys/class/dmi/id/bios_version", "SE5C7411.86B 2.1 \n");
    assert_eq!(tree.line("software.kernel"), "node: 6.1.0-28-amd64");
    assert_eq!(tree.line("software.microcode"), "node: 0x2b000603");
    assert_eq!(tree.line("software.bios"), "node: SE5C7411.86B 2.1");
}

#[test]
fn the_command_line_is_without_what_differs_on_every_machine() {
    let line = |text: &str| Tree::new().file("/proc/cmdline", text).line("software.command_line");
    let text =
        "BOOT_IMAGE=/vmlinuz-6.1 root=UUID=4be2 ro isolcpus=2-7 ip=10.0.0.7::: iommu=pt rd.lvm.lv=vg/root\n";
    assert_eq!(line(text), "node: ro isolcpus=2-7 iommu=pt");
    assert_eq!(line("root=/dev/sda1\n"), "node: none");
}

#[test]
fn faults_of_the_cpu_are_listed_by_whether_the_kernel_works_around_them() {
    let tree = Tree::new().files(
        VULNERABILITIES,
        &[
            ("meltdown", "Not affected\n"),
            ("spectre_v2", "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional\n"),
            ("itlb_multihit", "KVM: Mitigation: VMX disabled\n"),
            ("mmio_stale_data", "Vulnerable: Clear CPU buffers attempted, no microcode\n"),
        ],
    );
    let line = "node: itlb_multihit, spectre_v2 (vulnerable to mmio_stale_data)";
    assert_eq!(tree.line("software.mitigations"), line);
    let sound = Tree::new().files(VULNERABILITIES, &[("meltdown", "Not affected\n")]);
    assert_eq!(sound.line("software.mitigations"), "node: none");
}
