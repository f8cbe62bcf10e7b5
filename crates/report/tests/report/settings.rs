//! An audit of made-up hosts, and the page of a setting.

use seatrial_model::record::ProfileRef;
use seatrial_model::setting::{
    ApplyCommand, AuditedSetting, Present, Privilege, SettingAbout, SettingReading, SettingsDocument, Wanted,
};
use seatrial_model::{Bytes, Kind, Subject, Value, Verdict, VerdictRecord};
use seatrial_report::settings::{page, render};
use seatrial_report::{Style, TextStyle};

use super::golden;

static BUFFER: SettingAbout = SettingAbout {
    id: "toy.buffer",
    title: "largest buffer to be asked for",
    doc: "What is asked for is cut to this. Datagrams are lost when the receiver is away for longer than it lasts.",
    kind: Kind::Size(Bytes(1), Bytes::gib(1)),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/proc/sys/toy/buffer",
    apply: &[ApplyCommand::always("sysctl -w toy.buffer={value}")],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Lost at the next boot.",
};

static MTU: SettingAbout = SettingAbout {
    id: "toy.mtu",
    title: "largest packet",
    doc: "Larger packets carry more for the same work.",
    kind: Kind::Count(68, 65535),
    unit: "bytes",
    subject: "nic",
    facts: &["speed", "up"],
    apply: &[ApplyCommand::always("ip link set dev {name} mtu {value}")],
    privilege: Privilege::NetAdmin,
    ..BUFFER
};

static DRIVER: SettingAbout = SettingAbout {
    id: "toy.driver",
    title: "the driver of idle CPUs",
    doc: "It decides which idle states there are.",
    kind: Kind::Text,
    apply: &[],
    ..BUFFER
};

static ABOUTS: &[&SettingAbout] = &[&BUFFER, &MTU, &DRIVER];

fn read(node: &str, about: &SettingAbout, subject: &str, present: Present) -> AuditedSetting {
    let Ok(subject) = subject.parse::<Subject>();
    let reading = SettingReading::new(about, subject, present);
    AuditedSetting { node: node.to_owned(), reading, wanted: Vec::new() }
}

fn value(value: impl Into<Value>) -> Present {
    Present::Value(value.into())
}

/// Adds a verdict to a reading, and to the list of verdicts.
fn want(document: &mut SettingsDocument, index: usize, want: Wanted) {
    let setting = &mut document.settings[index];
    let SettingReading { setting: id, subject, .. } = &setting.reading;
    document.verdicts.push(VerdictRecord {
        node: Some(setting.node.clone()),
        reason: want.reason.clone(),
        waiver: want.waiver.clone(),
        ..VerdictRecord::new(id, "", subject.clone(), want.verdict, &want.bound)
    });
    setting.wanted.push(want);
}

fn wanted(bound: &str, verdict: Verdict) -> Wanted {
    Wanted {
        profile: "tender".to_owned(),
        bound: bound.to_owned(),
        why: None,
        verdict,
        reason: None,
        value: None,
        change: None,
        waiver: None,
    }
}

fn document(nodes: &[&str]) -> SettingsDocument {
    SettingsDocument {
        schema: SettingsDocument::SCHEMA,
        seatrial: "0.0.0".to_owned(),
        profile: Some(ProfileRef { id: "tender".to_owned(), title: "a tender".to_owned(), file: None }),
        nodes: nodes.iter().map(|&node| node.to_owned()).collect(),
        settings: Vec::new(),
        verdicts: Vec::new(),
        verdict: Some(Verdict::Fail),
    }
}

/// Two nodes that agree in some settings and differ in others.
fn judged() -> SettingsDocument {
    let mut document = document(&["n1", "n2"]);
    for node in ["n1", "n2"] {
        let mtu = if node == "n1" { 9000 } else { 1500 };
        let start = document.settings.len();
        document.settings.extend([
            read(node, &BUFFER, "node", value("208 KiB")),
            read(node, &MTU, "nic:eth0", value(mtu)),
            read(node, &MTU, "nic:mgmt0", value(1500)),
            read(node, &DRIVER, "node", Present::Absent("/sys/toy/driver does not exist".to_owned())),
        ]);
        let buffer = Wanted {
            reason: Some("it is 208 KiB; set it with: …".to_owned()),
            change: Some("sysctl -w toy.buffer=16777216".to_owned()),
            why: Some("the tender, page 3".to_owned()),
            ..wanted("at least 16 MiB", Verdict::Fail)
        };
        want(&mut document, start, buffer);
        let mtu = match node {
            "n1" => wanted("at least 9000", Verdict::Pass),
            _ => Wanted {
                change: Some("ip link set dev eth0 mtu 9000".to_owned()),
                waiver: Some("waived by Ada until 2027-01-31: switch not ready".to_owned()),
                ..wanted("at least 9000", Verdict::Warn)
            },
        };
        want(&mut document, start + 1, mtu);
        want(&mut document, start + 3, wanted("exactly intel_idle", Verdict::Unknown));
    }
    let lost = document.verdicts[0].clone();
    document.verdicts.push(VerdictRecord {
        criterion: "toy.mtu".to_owned(),
        node: Some("n1".to_owned()),
        subject: Subject::node(),
        verdict: Verdict::Unknown,
        present: None,
        bound: "exactly 9000".to_owned(),
        reason: Some("nothing here has speed=100 Gbit/s".to_owned()),
        ..lost
    });
    document
}

fn plain(document: &SettingsDocument) -> String {
    render(document, ABOUTS, TextStyle::default())
}

#[test]
fn an_audit_says_what_differs_and_how_to_mend_it() {
    golden!("audit_by_a_profile", plain(&judged()));
}

#[test]
fn an_audit_without_a_profile_shows_what_profiles_want() {
    let mut document = judged();
    document.profile = None;
    document.verdict = None;
    document.verdicts.clear();
    let other = Wanted { profile: "other".to_owned(), ..wanted("exactly 4 KiB", Verdict::Fail) };
    for index in [0, 4] {
        document.settings[index].wanted.push(other.clone());
        document.settings[index].reading.note = Some("set by the cloud".to_owned());
    }
    golden!("audit_without_a_profile", plain(&document));
}

#[test]
fn many_rows_that_are_as_wanted_are_counted() {
    let mut document = document(&["n1"]);
    document.verdict = Some(Verdict::Pass);
    for number in 0..30 {
        document.settings.push(read("n1", &MTU, &format!("nic:eth{number}"), value(9000)));
        let waiver = (number == 7).then(|| "waived by Ada until 2027-01-31: switch not ready".to_owned());
        want(&mut document, number, Wanted { waiver, ..wanted("at least 9000", Verdict::Pass) });
    }
    let text = plain(&document);
    assert!(text.starts_with("✓ PASS  all 30 are as wanted\n"), "{text}");
    assert!(text.contains("29 more") && text.lines().count() < 12, "{text}");
    assert!(text.contains("toy.mtu eth7") && text.contains("waived by Ada"), "{text}");
}

#[test]
fn a_profile_without_settings_is_no_pass() {
    let mut document = document(&["n1"]);
    document.verdict = None;
    assert!(plain(&document).starts_with("? UNKNOWN  the profile has no [[setting]]\n"));
}

#[test]
fn a_host_cannot_steer_the_terminal() {
    let mut document = document(&["n1\u{1b}[31m"]);
    let evil = "\u{1b}[2Jx\nFAIL";
    document.settings.push(read("n1", &DRIVER, "node", value(evil)));
    let want_it = Wanted {
        change: Some(evil.to_owned()),
        reason: Some(evil.to_owned()),
        waiver: Some(evil.to_owned()),
        ..wanted(evil, Verdict::Fail)
    };
    want(&mut document, 0, want_it);
    let text = plain(&document);
    assert!(!text.contains('\u{1b}') && !text.contains("\nFAIL"), "{text}");
    assert!(render(&document, ABOUTS, TextStyle::new(Style::Coloured, None)).contains("\u{1b}["));
}

#[test]
fn the_page_of_a_setting() {
    golden!(
        "the_page_of_a_setting",
        page(&MTU, TextStyle::default()) + "\n----\n" + &page(&DRIVER, TextStyle::default())
    );
}
