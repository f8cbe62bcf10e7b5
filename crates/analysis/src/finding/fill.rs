//! Fills in the words of remedies that stand for a device, a path or a group: what the case or the inventory of the node tells.
//! A word of which nothing is known stays.

use seatrial_model::machine::{Known, Machine, NicKind};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Remedy, Site, SiteNode, Subject};

use super::path::interfaces;

/// Where the value of a word is looked for.
struct Place<'a> {
    node: Option<&'a str>,
    machine: Option<&'a Machine>,
    subject: Option<&'a Subject>,
    text: &'a str,
    cases: &'a [&'a CaseRecord],
}

type Word = (&'static str, fn(&Place<'_>) -> Option<String>);

const WORDS: &[Word] = &[
    ("ADDRESS", pci_address),
    ("INTERFACE", interface),
    ("MOUNTPOINT", mount_point),
    ("DISK", disk),
    ("MEMBER", member),
    ("GROUP", group),
];

/// The remedy with what the case tells.
pub fn fill(remedy: &Remedy, case: &CaseRecord) -> Remedy {
    let node = case.nodes.first().map(String::as_str);
    let place = Place { node, machine: None, subject: Some(&case.subject), text: "", cases: &[case] };
    filled(remedy, &place).unwrap_or_else(|| remedy.clone())
}

/// The remedies of all findings of a run.
pub fn fill_all(findings: &mut [Finding], records: &[CaseRecord], site: &Site) {
    for finding in findings {
        let Some(remedy) = &finding.remedy else { continue };
        let is_named = |case: &&CaseRecord| {
            let id = case.case.as_str();
            finding.case.as_deref() == Some(id) || finding.evidence.iter().any(|other| other == id)
        };
        let mut cases: Vec<&CaseRecord> = records.iter().filter(is_named).collect();
        let node = finding.node.as_deref();
        // A finding from a matrix names its group.
        let is_of_group = |case: &&CaseRecord| {
            finding.evidence.first() == Some(&case.group)
                && node.is_some_and(|node| case.nodes.iter().any(|other| other == node))
        };
        if cases.is_empty() {
            cases = records.iter().filter(is_of_group).collect();
        }
        let machine = node.and_then(|node| site.node(node)).map(|node| &node.machine);
        let place =
            Place { node, machine, subject: Some(&finding.subject), text: &finding.text, cases: &cases };
        if let Some(filled) = filled(remedy, &place) {
            finding.remedy = Some(filled);
        }
    }
}

/// `None` where nothing is to be filled in.
fn filled(remedy: &Remedy, place: &Place<'_>) -> Option<Remedy> {
    let mut action = remedy.action.to_string();
    for (word, value) in WORDS.iter().filter(|(word, _)| remedy.action.contains(word)) {
        if let Some(value) = value(place) {
            action = action.replace(word, &value);
        }
    }
    (action != remedy.action).then(|| Remedy::of(remedy.actor, action))
}

/// The address of the device of the case, unless the text is about others; else the first in the text.
fn pci_address(place: &Place<'_>) -> Option<String> {
    let of_case = |case: &&CaseRecord| {
        // Behind a slash stands the port.
        let address = case.key.as_deref()?.strip_prefix("pci:")?.split('/').next()?;
        is_address(address).then(|| address.to_owned())
    };
    let words = || place.text.split([' ', '(', ')', ',', '\'']).map(|word| word.trim_end_matches([':', ';']));
    let told: Vec<&str> = words().filter(|word| is_address(word)).collect();
    let own = place.cases.iter().find_map(of_case);
    own.filter(|own| told.is_empty() || told.contains(&own.as_str()))
        .or_else(|| told.first().map(|first| (*first).to_owned()))
}

/// `0000:3b:00.0`.
fn is_address(word: &str) -> bool {
    let shape: String = word.chars().map(|sign| if sign.is_ascii_hexdigit() { 'x' } else { sign }).collect();
    shape == "xxxx:xx:xx.x"
}

/// The interface of the node that the cases use, or the only one that is up.
pub(super) fn interface_of(node: &SiteNode, cases: &[&CaseRecord]) -> Option<String> {
    let (name, machine) = (Some(node.name.as_str()), Some(&node.machine));
    interface(&Place { node: name, machine, subject: None, text: "", cases })
}

/// The file system of the directory of the case.
pub(super) fn file_system_of(case: &CaseRecord, node: &SiteNode) -> Option<Subject> {
    let (name, machine) = (Some(node.name.as_str()), Some(&node.machine));
    let place = Place { node: name, machine, subject: None, text: "", cases: &[case] };
    mount_of_case(&place).map(|mount| Subject::device("fs", &mount))
}

/// The interface that the finding is about, that was chosen for the node, or the only one that is up.
fn interface(place: &Place<'_>) -> Option<String> {
    let own = place.subject.filter(|subject| subject.kind() == "nic");
    let own = own.and_then(|subject| subject.as_str().split_once(':'));
    let chosen =
        || place.cases.iter().find_map(|case| Some((*interfaces(case, place.node?)?.first()?).to_owned()));
    let only = || {
        let nics = place.machine?.nics.known()?.iter();
        let mut up = nics.filter(|nic| nic.kind != NicKind::Loopback && matches!(nic.up, Known::Known(true)));
        let first = up.next()?;
        up.next().is_none().then(|| first.name.clone())
    };
    own.map(|(_, name)| name.to_owned()).or_else(chosen).filter(|name| name != "auto").or_else(only)
}

/// The directory of the case.
fn directory<'a>(place: &Place<'a>) -> Option<&'a str> {
    place.cases.iter().find_map(|case| case.params.text("directory").ok())
}

/// The mount point that the case or the finding is about, else that of the directory of the case.
fn mount_point(place: &Place<'_>) -> Option<String> {
    let of_subject = |subject: &Subject| {
        subject.as_str().strip_prefix("fs:").filter(|path| path.starts_with('/')).map(str::to_owned)
    };
    let subjects = || place.subject.into_iter().chain(place.cases.iter().map(|case| &case.subject));
    // The kernel knows the mount point of a directory that no inventory has.
    let by_kernel = || directory(place).map(|path| format!("\"$(findmnt -n -o TARGET -T {path})\""));
    subjects().find_map(of_subject).or_else(|| mount_of_case(place)).or_else(by_kernel)
}

/// The mount point of the directory of the case.
fn mount_of_case(place: &Place<'_>) -> Option<String> {
    let path = directory(place)?;
    let systems = place.machine?.file_systems.known()?.iter();
    systems.filter_map(|system| system.mount_of(path)).max_by_key(|mount| mount.len()).map(str::to_owned)
}

/// The first disk of the file system.
fn disk(place: &Place<'_>) -> Option<String> {
    let mount = mount_point(place)?;
    let mut systems = place.machine?.file_systems.known()?.iter();
    systems.find(|system| system.mount_of(&mount).is_some_and(|own| own == mount))?.disks.first().cloned()
}

/// The first member of a bond without a link.
fn member(place: &Place<'_>) -> Option<String> {
    let nics = place.machine?.nics.known()?.iter();
    let members = nics.filter_map(|nic| nic.bond.as_ref()).flat_map(|bond| &bond.members);
    let mut down =
        members.filter(|member| matches!(&member.link, Known::Known(link) if link.as_str() != "up"));
    down.next().map(|member| member.name.clone())
}

/// The control group that limits the CPU time.
fn group(place: &Place<'_>) -> Option<String> {
    let quota = place.machine?.cpu.quota.known()?.as_ref()?;
    Some(quota.group.trim_matches('/').to_owned()).filter(|group| !group.is_empty())
}

#[cfg(test)]
mod tests {
    use seatrial_model::machine::{Bond, BondMember, CpuQuota, FileSystem, Nic};
    use seatrial_model::{Actor, Severity};

    use super::*;
    use crate::judge::fixture::case;

    fn action(finding: Finding, action: &'static str, records: &[CaseRecord], machine: Machine) -> String {
        let finding = Finding { node: Some("n3".to_owned()), ..finding };
        let mut all = [finding.with_remedy(Remedy::new(Actor::Root, action))];
        fill_all(&mut all, records, &Site { nodes: vec![SiteNode::new("n3", machine)] });
        all[0].remedy.as_ref().expect("it stays").action.to_string()
    }

    fn finding(text: &str) -> Finding {
        Finding::new("k", Severity::Warning, Subject::node(), text)
    }

    #[test]
    fn an_address_is_that_of_the_device_in_the_text_or_else_of_the_case() {
        let address = |key: &str, text: &str| {
            let mut of = case("n3", "gpu:0");
            of.key = Some(format!("pci:{key}"));
            let about = Finding { case: Some(of.case.to_string()), ..finding(text) };
            action(about, "lspci -s ADDRESS", &[of], Machine::default())
        };
        let text = "errors of their links (0000:5e:00.0); each";
        assert_eq!(address("0000:01:00.0", text), "lspci -s 0000:5e:00.0");
        assert_eq!(address("0000:01:00.0", ""), "lspci -s 0000:01:00.0");
        assert_eq!(address("0000:5e:00.0/1", ""), "lspci -s 0000:5e:00.0");
    }

    #[test]
    fn words_are_filled_in_from_the_case_the_finding_and_the_inventory() {
        let system = |mount: &str, disk: &str| FileSystem {
            mount: mount.to_owned(),
            disks: vec![disk.to_owned()],
            ..FileSystem::default()
        };
        let member = |name: &str, link: &str| BondMember {
            name: name.to_owned(),
            link: Known::Known(link.to_owned()),
            ..BondMember::default()
        };
        let nic =
            |name: &str, up: bool| Nic { name: name.to_owned(), up: Known::Known(up), ..Nic::default() };
        let bond = Bond { members: vec![member("eth1", "up"), member("eth2", "down")], ..Bond::default() };
        let nics = vec![Nic { bond: Some(bond), ..nic("bond0", true) }, nic("eth9", false)];
        let mut machine = Machine {
            file_systems: Known::Known(vec![system("/", "sda"), system("/scratch", "sdb")]),
            nics: Known::Known(nics),
            ..Machine::default()
        };
        let quota = CpuQuota { group: "/batch/job".to_owned(), quota_us: 1, period_us: 2 };
        machine.cpu.quota = Known::Known(Some(quota));
        let mut unplanned = case("n3", "node");
        unplanned.params.set("directory", "/scratch/a");
        let own = |text: &str| Finding { case: Some(unplanned.case.to_string()), ..finding(text) };
        let of =
            |text: &str, words| action(own(text), words, std::slice::from_ref(&unplanned), machine.clone());
        assert_eq!(of("", "remount MOUNTPOINT of DISK"), "remount /scratch of sdb");
        assert_eq!(of("", "ethtool INTERFACE, set MEMBER up"), "ethtool bond0, set eth2 up");
        assert_eq!(of("", "/sys/fs/cgroup/GROUP/cpu.max"), "/sys/fs/cgroup/batch/job/cpu.max");
        let log = "n3: 'pcieport: AER: Corrected error received: 0000:3b:00.0' and more";
        assert_eq!(of(log, "lspci -s ADDRESS"), "lspci -s 0000:3b:00.0");
        let nothing = || Machine::default();
        let on = |subject: &str| {
            let subject = subject.parse().expect("a subject");
            action(Finding { subject, ..finding("") }, "look at INTERFACE and MOUNTPOINT", &[], nothing())
        };
        assert_eq!(on("fs:/data 1"), "look at INTERFACE and /data 1");
        assert_eq!(on("nic:eth4"), "look at eth4 and MOUNTPOINT", "what is not known stays");
        let by_kernel = action(own(""), "umount MOUNTPOINT", std::slice::from_ref(&unplanned), nothing());
        assert_eq!(by_kernel, "umount \"$(findmnt -n -o TARGET -T /scratch/a)\"");
    }

    #[test]
    fn the_interface_is_the_one_that_was_chosen_for_the_node_also_where_a_matrix_names_it() {
        let mut pair = case("n1", "n1->n3");
        pair.nodes.push("n3".to_owned());
        pair.chosen.set("interface", "eth0");
        pair.chosen.set("peer_interface", "eth5");
        let slow = Finding { evidence: vec![pair.group.clone(), "rate".to_owned()], ..finding("") };
        assert_eq!(action(slow, "ethtool INTERFACE", &[pair], Machine::default()), "ethtool eth5");
    }

    #[test]
    fn a_case_alone_fills_in_the_address_of_its_device() {
        let mut gpu = case("n1", "gpu:0");
        gpu.key = Some("pci:0000:01:00.0".to_owned());
        let remedy = Remedy::new(Actor::User, "lspci -s ADDRESS");
        assert_eq!(fill(&remedy, &gpu).action, "lspci -s 0000:01:00.0");
        assert_eq!(fill(&remedy, &case("n1", "node")), remedy);
    }
}
