//! `state.lldp_neighbour`: the switch and port at the far end of a cable, as lldpd has heard it.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot};
use serde_json::Value as Json;

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct LldpNeighbour;

const ABOUT: SettingAbout = SettingAbout {
    id: "state.lldp_neighbour",
    title: "switch and port at the end of a cable",
    doc: "Name of the switch and of its port, as the switch announces them by LLDP: held against the cable plan it finds \
          swapped cables, and nodes of one rack on another switch.",
    kind: Kind::Text,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: Nic::FACTS,
    source: "lldpcli -f json0 show neighbors",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "move the cable to the port of the cable plan",
    traps: "Needs the service lldpd, and LLDP on the switch, which announces itself every 30 s. Some NICs keep LLDP for \
            their firmware: `ethtool --set-priv-flags NAME disable-fw-lldp on` (Intel i40e).",
};

/// lldpd answers from memory.
const DEADLINE: Duration = Duration::from_secs(2);

impl Setting for LldpNeighbour {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        // Nobody is asked where there is no card.
        let has_card = machine.nics.listed().iter().any(|nic| nic.kind.is_device());
        let told = if has_card { neighbours(root) } else { Err(Found::absent("there is no network card")) };
        devices::readings(&ABOUT, &machine.nics, "there is no network card", |nic| {
            nic.kind.is_device().then(|| {
                let found = match &told {
                    Ok(json) => neighbour(json, &nic.name),
                    Err(found) => found.clone(),
                };
                Device::nic(nic, found)
            })
        })
    }
}

/// What lldpd tells; below a test root the file `/lldp/neighbors.json`.
fn neighbours(root: &SysRoot) -> Result<Json, Found> {
    const PATH: &str = "/lldp/neighbors.json";
    let text = match root.is_live() {
        true => asked("lldpcli")?,
        false => root.text(PATH).map_err(|error| match error {
            ReadError::Missing { .. } => Found::absent("lldpd is not installed"),
            error => Found::failed(&error),
        })?,
    };
    serde_json::from_str(&text).map_err(|error| Found::unreadable(&format!("lldpcli answers no JSON: {error}")))
}

/// The answer of `program`, which is killed when it is late.
fn asked(program: &str) -> Result<String, Found> {
    let started = Command::new(program)
        .args(["-f", "json0", "show", "neighbors"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match started {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Found::absent("lldpd is not installed"));
        }
        started => started.map_err(|error| Found::unreadable(&format!("{program}: {error}")))?,
    };
    let (sender, receiver) = mpsc::channel();
    if let Some(mut output) = child.stdout.take() {
        thread::spawn(move || {
            let mut text = String::new();
            // A text that is cut off is no JSON.
            let _ = output.read_to_string(&mut text);
            let _ = sender.send(text);
        });
    }
    let text = receiver.recv_timeout(DEADLINE);
    // It has ended, or it is late.
    let _ = child.kill();
    let status = child.wait();
    match text {
        Ok(text) if !text.trim().is_empty() => Ok(text),
        Ok(_) => {
            let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            Err(Found::unreadable(&format!("{program} ends with {status}; does the service lldpd run?")))
        }
        Err(_) => Err(Found::unreadable(&format!("{program} did not answer within 2 s"))),
    }
}

fn neighbour(json: &Json, nic: &str) -> Found {
    let all = json.pointer("/lldp/0/interface").and_then(Json::as_array);
    let own = all.into_iter().flatten().find(|one| one.get("name").and_then(Json::as_str) == Some(nic));
    let Some(own) = own else { return Found::absent("no switch has announced itself by LLDP") };
    let text = |places: &[&str]| {
        places.iter().find_map(|place| own.pointer(place).and_then(Json::as_str)).unwrap_or("?").to_owned()
    };
    let switch = text(&["/chassis/0/name/0/value", "/chassis/0/id/0/value"]);
    let port = text(&["/port/0/id/0/value", "/port/0/descr/0/value"]);
    Found::value(Value::Text(format!("{switch} {port}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_or_says_nothing_has_its_reason() {
        assert!(matches!(asked("no-such-program"), Err(found) if found == Found::absent("lldpd is not installed")));
        let silent = asked("false").expect_err("nothing");
        let why = "false ends with exit status: 1; does the service lldpd run?";
        // The kill may come first.
        let killed = "false ends with signal: 9 (SIGKILL); does the service lldpd run?";
        assert!([why, killed].map(Found::unreadable).contains(&silent), "{silent:?}");
    }
}
