//! Values of settings as typed.

use seatrial_model::name::did_you_mean;
use seatrial_model::profile::{Requirement, SettingRule};

/// The demand `NAME=VALUE` or `NAME@DEVICE=VALUE`.
pub fn rule(typed: &str) -> Result<SettingRule, String> {
    let (place, value) = typed.split_once('=').unwrap_or((typed, ""));
    let (name, device) = place.split_once('@').map_or((place, None), |(name, device)| (name, Some(device)));
    let registry = seatrial_settings::registry();
    let Some(setting) = registry.find(name) else {
        let near = registry.nearest(name).map(str::to_owned);
        return Err(format!(
            "there is no setting '{name}'{}; `seatrial list` names them",
            did_you_mean(&near)
        ));
    };
    let about = setting.about();
    if about.apply.is_empty() {
        let remedy = if about.remedy.is_empty() { about.traps } else { about.remedy };
        return Err(format!("{name} cannot be set while the system runs: {remedy}"));
    }
    let mut rule = SettingRule { id: name.to_owned(), ..SettingRule::default() };
    if let Some(device) = device {
        if about.subject == "node" {
            return Err(format!("{name} is of the whole node: write {name}={value}"));
        }
        rule.on.set("name", device);
    }
    let parts = about.split(value);
    if parts.len() != about.count() {
        return Err(format!("{typed}: {name} has {} values ({})", about.count(), about.describe()));
    }
    for part in parts {
        let equals = about.parse(part).map_err(|why| format!("{typed}: {why}"))?;
        rule.require.push(Requirement { equals: Some(equals), ..Requirement::default() });
    }
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_demand_of_a_profile() {
        let bound = |typed: &str| rule(typed).map(|rule| rule.bound());
        assert_eq!(bound("net.core.rmem_max=16MiB"), Ok("exactly 16 MiB".to_owned()));
        let of_tcp = "net.ipv4.tcp_rmem=4 KiB, 128 KiB, 6 MiB";
        assert_eq!(bound(of_tcp), Ok("exactly 4 KiB, 128 KiB, 6 MiB".to_owned()));
        let on = rule("nic.mtu@eth0=9000").expect("a demand").on;
        assert_eq!(on.text("name"), Ok("eth0"));
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_what_can_be_typed() {
        let why = |typed: &str| rule(typed).unwrap_err();
        assert!(why("net.core.rmem_mx=1").contains("did you mean 'net.core.rmem_max'?"));
        assert!(why("memory.swappiness@eth0=1").contains("write memory.swappiness=1"));
        assert!(why("memory.swappiness=201").contains("0 to 200"), "{}", why("memory.swappiness=201"));
        assert!(why("net.ipv4.tcp_rmem=1").contains("has 3 values"));
        assert!(why("cpu.idle_driver=none").contains("kernel command line"));
    }
}
