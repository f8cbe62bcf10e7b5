//! Abbreviations of device folders: a line of a fixture that begins with `@` stands for several files.

use super::Tree;

/// Writes the files of a line into a folder; files of the fixture take precedence.
pub(super) fn expand(tree: &Tree, folder: &str, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let add = |file: &str, value: &str| tree.add(&format!("{folder}/{file}"), format!("{value}\n"));
    match words.as_slice() {
        ["@pci", ids, class, driver, node, cpus] => {
            let (vendor, device) = ids.split_once(':').expect("two ids");
            add("vendor", &format!("0x{vendor}"));
            add("device", &format!("0x{device}"));
            add("class", &format!("0x{class}"));
            add("numa_node", node);
            add("local_cpulist", cpus);
            if *driver != "-" {
                tree.link(&format!("{folder}/driver"), &format!("../../../bus/pci/drivers/{driver}"));
            }
        }
        ["@card", ids] => {
            let (vendor, device) = ids.split_once(':').expect("two ids");
            add("subsystem_vendor", &format!("0x{vendor}"));
            add("subsystem_device", &format!("0x{device}"));
        }
        ["@link", speed, width, "of", most, widest] => {
            add("current_link_speed", &format!("{speed} GT/s PCIe"));
            add("current_link_width", width);
            add("max_link_speed", &format!("{most} GT/s PCIe"));
            add("max_link_width", widest);
        }
        ["@nic", index, address, speed, mtu, state] => {
            add("type", "1");
            add("address", address);
            add("addr_assign_type", "0");
            add("mtu", mtu);
            add("operstate", state);
            add("dev_port", "0");
            add("ifindex", index);
            add("iflink", index);
            add("uevent", &format!("INTERFACE=x\nIFINDEX={index}"));
            match *speed {
                "-" => ["speed", "duplex"].map(|file| tree.unreadable(&format!("{folder}/{file}"))),
                speed => [("speed", speed), ("duplex", "full")].map(|(file, value)| add(file, value)),
            };
            add("carrier", if *state == "down" { "0" } else { "1" });
        }
        ["@queues", count] => {
            for queue in 0..count.parse::<u32>().expect("a number") {
                tree.unreadable(&format!("{folder}/queues/rx-{queue}"));
                tree.unreadable(&format!("{folder}/queues/tx-{queue}"));
            }
        }
        ["@disk", number, sectors, rotational, scheduler @ ..] => {
            add("dev", number);
            add("size", sectors);
            add("removable", "0");
            add("ro", "0");
            add("queue/rotational", rotational);
            add("queue/logical_block_size", "512");
            add("queue/physical_block_size", "4096");
            add("queue/read_ahead_kb", "128");
            if !scheduler.is_empty() {
                add("queue/scheduler", &scheduler.join(" "));
            }
        }
        ["@part", count, number, sectors, holders @ ..] => {
            add("partition", count);
            add("dev", number);
            add("size", sectors);
            holders.iter().for_each(|holder| tree.unreadable(&format!("{folder}/holders/{holder}")));
        }
        // The SCSI page of the serial number: code, length, text.
        ["@serial", text] => {
            let length = u8::try_from(text.len()).expect("short");
            tree.add(&format!("{folder}/vpd_pg80"), [&[0, 0x80, 0, length], text.as_bytes()].concat());
        }
        _ => panic!("{folder}: a line that is not known: {line}"),
    }
}
