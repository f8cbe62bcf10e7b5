//! Memory channels of modules, if slot and bank names tell them without contradiction.
//!
//! SMBIOS has no field for the channel; boards put it into names, each in its own way: `P0 CHANNEL H`,
//! `CPU1_DIMM_A1`, `P1_Node0_Channel2_Dimm0`, `MC0_Chan1`. Names that only number slots, and Dell's `A1` (the letter
//! is the CPU), do not tell. A wrong count would give a wrong limit, so doubtful names count as unknown.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::machine::Dimm;

/// Channels have at most this many modules; with more, the names do not mean channels.
const MOST_PER_CHANNEL: usize = 3;

pub(super) fn assign(modules: &mut [Dimm]) -> Result<(), String> {
    if modules.is_empty() {
        return Ok(());
    }
    let channels = channels(modules)?;
    for (module, channel) in modules.iter_mut().zip(channels) {
        module.channel = Some(channel);
    }
    Ok(())
}

fn channels(modules: &[Dimm]) -> Result<Vec<String>, String> {
    let mut names = BTreeSet::new();
    for module in modules {
        if !names.insert((&module.locator, &module.bank)) {
            return Err(format!("two modules have the name {}", name(module)));
        }
    }
    let by_locator: Option<Vec<String>> = modules.iter().map(|module| told_by(&module.locator)).collect();
    let by_bank: Option<Vec<String>> =
        modules.iter().map(|module| told_by(module.bank.as_deref()?)).collect();
    let channels = match (by_locator, by_bank) {
        (Some(locator), Some(bank)) if !same_groups(&locator, &bank) => {
            return Err(format!(
                "names of slots and banks contradict each other, as in {}",
                name(&modules[0])
            ));
        }
        // Where both tell, the bank counts: it is used for nothing else.
        (_, Some(channels)) | (Some(channels), None) => channels,
        (None, None) => return Err(format!("names such as {} do not tell the channel", name(&modules[0]))),
    };
    let mut crowd: BTreeMap<&str, usize> = BTreeMap::new();
    for channel in &channels {
        *crowd.entry(channel).or_default() += 1;
    }
    if let Some((channel, count)) = crowd.into_iter().find(|&(_, count)| count > MOST_PER_CHANNEL) {
        return Err(format!("{count} modules would be on one channel, '{channel}'"));
    }
    Ok(channels)
}

fn name(module: &Dimm) -> String {
    let bank = module.bank.as_ref().map(|bank| format!(" in bank '{bank}'")).unwrap_or_default();
    format!("'{}'{bank}", module.locator)
}

/// Whether two namings group the modules equally.
fn same_groups(one: &[String], other: &[String]) -> bool {
    let pairs: BTreeSet<(&str, &str)> =
        one.iter().zip(other).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let distinct = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len();
    pairs.len() == distinct(one) && pairs.len() == distinct(other)
}

/// The channel in a name, with its CPU: `P0 A`, `P0 NODE1 2`.
fn told_by(name: &str) -> Option<String> {
    let words = words(name);
    let mut within = Vec::new();
    let mut channel = None;
    let mut socket = false;
    let mut rest = words.as_slice();
    while let [word, tail @ ..] = rest {
        rest = tail;
        let Some(next) = tail.first() else { break };
        match word.as_str() {
            "P" | "CPU" | "PROC" | "PROCESSOR" | "SOCKET" | "S" if is_number(next) && !socket => {
                within.push(format!("P{next}"));
                socket = true;
                rest = &tail[1..];
            }
            "NODE" | "MC" | "IMC" | "CONTROLLER" if is_number(next) => {
                within.push(format!("{word}{next}"));
                rest = &tail[1..];
            }
            "CHANNEL" | "CHAN" | "CH" if is_number(next) || is_letter(next) => {
                channel = Some(next.clone());
                rest = &tail[1..];
            }
            // Letter and number are channel and slot only where the CPU is named separately.
            letter if socket && channel.is_none() && is_letter(letter) && is_number(next) => {
                channel = Some(letter.to_owned());
                rest = &tail[1..];
            }
            _ => {}
        }
    }
    within.push(channel?);
    Some(within.join(" "))
}

/// A name in upper case, split at other characters than letters and digits, and between letters and digits. A letter
/// joined to `DIMM` is split off too: `DIMMA1` is DIMM, A, 1.
fn words(name: &str) -> Vec<String> {
    let upper = name.to_ascii_uppercase();
    let mut words = Vec::new();
    for part in upper.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|c: char| c.is_ascii_digit() != first.is_ascii_digit()).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            rest = behind;
            match word.strip_prefix("DIMM").or_else(|| word.strip_prefix("CHANNEL")) {
                Some(letter) if letter.len() == 1 => {
                    words.push(word[..word.len() - 1].to_owned());
                    words.push(letter.to_owned());
                }
                _ => words.push(word.to_owned()),
            }
        }
    }
    words
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_letter(word: &str) -> bool {
    word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(locator: &str, bank: &str) -> Dimm {
        let bank = (!bank.is_empty()).then(|| bank.to_owned());
        Dimm { locator: locator.to_owned(), bank, ..Dimm::default() }
    }

    fn assigned(names: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let mut modules: Vec<Dimm> = names.iter().map(|(locator, bank)| module(locator, bank)).collect();
        assign(&mut modules)?;
        Ok(modules.into_iter().filter_map(|module| module.channel).collect())
    }

    #[test]
    fn reads_the_names_that_boards_use() {
        for (name, channel) in [
            ("P0 CHANNEL H", "P0 H"),
            ("P0_Node1_Channel2_Dimm0", "P0 NODE1 2"),
            ("CPU1_DIMM_A1", "P1 A"),
            ("P2-DIMMB1", "P2 B"),
            ("DIMM_P0_A0", "P0 A"),
            ("MC0_Chan1", "MC0 1"),
            ("Controller0-ChannelA-DIMM0", "CONTROLLER0 A"),
            ("NODE 1 CHANNEL 3 DIMM 0", "NODE1 3"),
            ("CPU0_C2", "P0 C"),
        ] {
            assert_eq!(told_by(name).as_deref(), Some(channel), "{name}");
        }
    }

    #[test]
    fn does_not_read_a_channel_where_none_is_named() {
        for name in
            ["", "A1", "DIMM_A1", "DIMM 0", "PROC 1 DIMM 12", "PROC 1 DIMM 1A", "BANK 3", "CPU0", "LP5x_0"]
        {
            assert_eq!(told_by(name), None, "{name}");
        }
    }

    #[test]
    fn takes_the_bank_when_slots_are_only_numbered() {
        let found =
            assigned(&[("DIMM 0", "P0 CHANNEL A"), ("DIMM 0", "P0 CHANNEL B"), ("DIMM 1", "P0 CHANNEL A")]);
        assert_eq!(found, Ok(vec!["P0 A".to_owned(), "P0 B".to_owned(), "P0 A".to_owned()]));
    }

    #[test]
    fn lets_two_names_agree_in_different_words() {
        let found = assigned(&[("CPU1_DIMM_A1", "P0_Node0_Channel0"), ("CPU1_DIMM_B1", "P0_Node0_Channel1")]);
        assert_eq!(found.map(|channels| channels.len()), Ok(2));
    }

    #[test]
    fn refuses_contradictions_and_doubt() {
        let contradiction = assigned(&[("CPU1_DIMM_A1", "CHANNEL 0"), ("CPU1_DIMM_B1", "CHANNEL 0")]);
        assert!(contradiction.is_err_and(|why| why.contains("contradict")));
        let same = assigned(&[("CPU1_DIMM_A1", ""), ("CPU1_DIMM_A1", "")]);
        assert!(same.is_err_and(|why| why.contains("two modules have the name")));
        let crowd = ["1", "2", "3", "4"].map(|slot| format!("CPU1_DIMM_A{slot}"));
        let crowd: Vec<_> = crowd.iter().map(|name| (name.as_str(), "")).collect();
        assert!(assigned(&crowd).is_err_and(|why| why.contains("4 modules")));
        let partly = assigned(&[("CPU1_DIMM_A1", ""), ("DIMM 7", "")]);
        assert!(partly.is_err_and(|why| why.contains("do not tell")));
        assert_eq!(assigned(&[]), Ok(Vec::new()));
    }
}
