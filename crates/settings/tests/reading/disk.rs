//! The queue of a disk.

use seatrial_model::machine::{Disk, DiskBus, Known};

use crate::tree::Tree;

fn tree(bus: DiskBus, scheduler: &str) -> Tree {
    let files: &[(&str, &str)] = &[("read_ahead_kb", "128\n"), ("scheduler", scheduler)];
    let disk = Disk { name: "sda".to_owned(), bus, ..Disk::default() };
    Tree::new()
        .files("/sys/block/sda/queue", files)
        .machine(|machine| machine.disks = Known::Known(vec![disk]))
}

#[test]
fn the_scheduler_is_the_word_in_brackets() {
    let sata = tree(DiskBus::Sata, "none [mq-deadline] bfq\n");
    assert_eq!(sata.line("disk.scheduler"), "disk:sda: mq-deadline");
    assert_eq!(sata.line("disk.read_ahead_kb"), "disk:sda: 128");
    assert_eq!(tree(DiskBus::Nvme, "none\n").line("disk.scheduler"), "disk:sda: none");
    let line = tree(DiskBus::Sata, "none mq-deadline\n").line("disk.scheduler");
    assert!(line.starts_with("disk:sda: unreadable: "), "{line}");
}

#[test]
fn what_lies_in_memory_or_in_a_file_is_no_disk() {
    assert_eq!(tree(DiskBus::Loop, "none\n").line("disk.scheduler"), "disk: absent: there is no disk");
}

#[test]
fn the_command_names_the_disk() {
    let command = tree(DiskBus::Sata, "[none] bfq\n").command("disk.scheduler", "bfq");
    assert_eq!(command.as_deref(), Some("echo bfq > /sys/block/sda/queue/scheduler"));
}
