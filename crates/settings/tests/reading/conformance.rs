//! Rules for every setting, checked over the registry.

use std::collections::BTreeSet;

use seatrial_model::machine::{Known, Machine};
use seatrial_model::setting::{Present, SettingAbout};
use seatrial_sys::root::SysRoot;

fn abouts() -> Vec<&'static SettingAbout> {
    seatrial_settings::registry().abouts().collect()
}

#[test]
fn ids_are_unique_and_start_with_their_family() {
    let mut seen = BTreeSet::new();
    for about in abouts() {
        assert!(seen.insert(about.id), "{} stands twice", about.id);
        let plain = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        assert!(about.id.contains('.') && about.id.split('.').all(plain), "{}", about.id);
    }
    assert!(seen.len() > 30, "{seen:?}");
}

#[test]
fn every_definition_explains_itself() {
    for about in abouts() {
        let id = about.id;
        assert!(!about.title.is_empty() && about.title.len() <= 43, "{id}: {}", about.title);
        assert!(!about.title.ends_with('.'), "{id}");
        assert!(about.doc.len() > 80 && about.doc.ends_with('.'), "{id}: {}", about.doc);
        assert!(about.traps.ends_with('.'), "{id}: {}", about.traps);
        assert!(
            !about.source.is_empty() && ["node", "nic", "hca", "fs", "disk", "gpu"].contains(&about.subject),
            "{id}"
        );
        for text in [about.doc, about.traps, about.title, about.source] {
            assert!(!text.contains("  ") && !text.contains('\n') && !text.contains('|'), "{id}: {text:?}");
        }
    }
}

#[test]
fn a_way_to_change_it_names_the_value_and_the_subject() {
    for about in abouts() {
        let is_state = ["rdma.", "state.", "software."].iter().any(|family| about.id.starts_with(family));
        let fixed = ["cpu.idle_driver", "gpu.driver", "gpu.vbios", "gpu.inforom", "gpu.nvlinks"];
        let is_fixed = is_state || fixed.contains(&about.id);
        assert_eq!(about.apply.is_empty(), is_fixed, "{}", about.id);
        for apply in about.apply {
            let command = about.template(apply);
            let fixed = about.id.ends_with("_consistent") || about.id == "net.rcvbuf_at_least_sndbuf";
            assert_eq!(command.contains("{value}"), !fixed, "{}", about.id);
            assert_eq!(command.contains("{name}"), about.subject != "node", "{}", about.id);
            let path = about.path(apply);
            assert!(
                path.is_empty()
                    || ["/proc/sys/", "/sys/", "/ethtool/", "/qdisc/", "/gpu/", "/irq/"]
                        .iter()
                        .any(|tree| path.starts_with(tree)),
                "{path}"
            );
            assert!(path.is_empty() || path.contains("{name}") == (about.subject != "node"), "{path}");
            assert!(apply.by.is_empty() || about.facts.contains(&"by"), "{}", about.id);
        }
    }
}

#[test]
fn what_sysctl_sets_is_the_file_that_is_read() {
    let mut rows = 0;
    for about in abouts() {
        let set = about.apply.iter().find_map(|apply| {
            Some(about.template(apply).strip_prefix("sysctl -w ")?.strip_suffix("={value}")?.to_owned())
        });
        let Some(name) = set else { continue };
        assert_eq!(about.source, format!("/proc/sys/{}", name.replace('.', "/")), "{}", about.id);
        assert!(!about.id.starts_with("net.") || about.id == name, "{} is called {name}", about.id);
        rows += 1;
    }
    assert!(rows > 10, "{rows}");
}

/// On any host: every setting has a reading, and every value could be in a profile.
#[test]
fn this_host_is_read_in_full_and_twice_alike() {
    let machine = Machine { nics: Known::Known(Vec::new()), ..Machine::default() };
    let root = SysRoot::live();
    let first = seatrial_settings::read_all(&root, &machine);
    for about in abouts() {
        let readings: Vec<_> = first.iter().filter(|reading| reading.setting == about.id).collect();
        assert!(!readings.is_empty(), "{} was not read", about.id);
        for reading in readings {
            assert_eq!(reading.facts.text("kind"), Ok(about.subject), "{}", about.id);
            let Present::Value(value) = &reading.present else { continue };
            let text = value.to_string();
            let parts = about.split(&text);
            assert_eq!(parts.len(), about.count(), "{}: {text}", about.id);
            for part in parts {
                // A kernel may have words that our list lacks, but no numbers.
                let is_word = matches!(about.kind, seatrial_model::Kind::Choice(_));
                assert!(is_word || about.parse(part).is_ok(), "{}: {part}", about.id);
            }
        }
    }
    let second = seatrial_settings::read_all(&root, &machine);
    assert_eq!(first.len(), second.len());
}
