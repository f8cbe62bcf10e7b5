//! The text for a vendor: one node, its parts, what it misses, and how to measure again.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use seatrial_model::machine::{Known, Machine, ModuleSerial, Serials};
use seatrial_model::record::{Document, MetricRecord};
use seatrial_model::{Finding, Severity, Subject, Verdict, VerdictRecord};

use crate::inventory::{Node, parts, system};
use crate::notes::Notes;
use crate::number::signed_percent;
use crate::repeat_command::{self, Repeat};
use crate::view::cases::by_id;
use crate::view::criteria::Places;
use crate::view::findings::{by_cause, found};
use crate::view::nodes::shortfall;
use crate::view::values::measured;
use crate::words::{clean, clean_lines, quantity, time};

/// What a ticket shows beside the record.
#[derive(Clone, Copy)]
pub struct TicketContext<'a> {
    /// The inventory of the node, with its serial numbers, if the run has one.
    pub machine: Option<&'a Node>,
    /// The metric of each criterion, by id.
    pub metrics: &'a HashMap<String, String>,
    /// The SHA-256 of the evidence file, or why the file cannot be made.
    pub evidence: Result<&'a str, &'a str>,
}

/// Renders the ticket of the node `name`.
pub fn render(document: &Document, name: &str, context: TicketContext<'_>) -> String {
    let TicketContext { machine, metrics, evidence } = context;
    let run = &document.run;
    let cases = by_id(document);
    let case_of = |record: &VerdictRecord| record.case.as_deref().and_then(|id| cases.get(id)).copied();
    let is_here = |record: &&VerdictRecord| {
        let in_case = || case_of(record).is_some_and(|case| case.nodes.iter().any(|node| node == name));
        record.node.as_deref().map_or_else(in_case, |node| node == name)
    };
    let mut open: Vec<&VerdictRecord> = document.verdicts.iter().filter(is_here).collect();
    open.retain(|record| record.verdict != Verdict::Skip);
    let judged = open.len();
    open.retain(|record| record.verdict >= Verdict::Unknown);
    open.sort_by_key(|record| (Reverse(record.verdict), shortfall(record)));
    let mut findings = found(document);
    findings.retain(|found| is_about(found.finding, name, document));
    let findings = by_cause(findings);
    let missed = open.iter().filter(|record| record.verdict == Verdict::Fail).count();
    let noun = if judged == 1 { "criterion" } else { "criteria" };
    let mut text = format!("{name}: {missed} of {judged} {noun} not met");
    if open.len() > missed {
        let _ = write!(text, ", {} not judged", open.len() - missed);
    }
    let profile = run.profile.as_ref().map(|profile| format!(", profile {}", profile.id)).unwrap_or_default();
    let _ = writeln!(
        text,
        "\nrun {} of {}{profile}, seatrial {}\n\nMachine",
        run.id,
        time(run.started),
        run.seatrial
    );
    match machine {
        Some(node) => {
            let subjects = open
                .iter()
                .map(|record| &record.subject)
                .chain(findings.iter().map(|it| &it.finding.subject));
            let devices = subjects.flat_map(|subject| devices(subject, name, &node.machine)).collect();
            about_machine(&mut text, &node.machine, &devices);
        }
        None => text += "  the run holds no inventory of this node\n",
    }
    text += "\nCriteria\n";
    if open.is_empty() {
        text += "  every judged criterion is met\n";
    }
    let places = Places::of(document);
    for record in open {
        about_criterion(&mut text, record, &places.place(record));
        if let Some(case) = case_of(record) {
            let metric = metrics.get(&record.criterion).and_then(|name| case.metrics.get_key_value(name));
            about_limit(&mut text, metric);
            let repeats = repeat_command::repeats(&[case], run, Repeat::Same);
            let _ = repeats.iter().try_for_each(|(_, command)| writeln!(text, "    to repeat: {command}"));
        }
    }
    if !findings.is_empty() {
        text += "\nFindings\n";
    }
    for found in findings {
        let more = if found.is_first_of_kind { format!(" ({})", found.about()) } else { String::new() };
        let _ = writeln!(text, "  {} {}: {}{more}", found.badge().word, found.finding.kind, found.text());
    }
    let _ = match evidence {
        Ok(sum) => writeln!(
            text,
            "\nEvidence\n  seatrial export {} --evidence FILE  writes all records and samples into one file\n  \
             SHA-256 {sum}",
            run.id
        ),
        Err(why) => writeln!(text, "\nEvidence\n  not available: {why}"),
    };
    clean_lines(&text)
}

/// Whether a finding that matters is about `node`. In a run of one node every finding is.
fn is_about(finding: &Finding, node: &str, document: &Document) -> bool {
    let is_alone = document.run.nodes.len() == 1;
    finding.severity > Severity::Info && finding.node.as_deref().map_or(is_alone, |other| other == node)
}

/// The subjects of the devices of `node` that `subject` goes over: of a path between nodes its own end, of a file system
/// the disks below.
fn devices(subject: &Subject, node: &str, machine: &Machine) -> Vec<String> {
    let text = subject.as_str();
    let mut found = vec![text.to_owned()];
    for end in text.split("->") {
        if let Some((_, device)) = end.split_once('/').filter(|(of, _)| *of == node) {
            found.extend(["nic", "hca"].map(|kind| format!("{kind}:{device}")));
        } else if text.starts_with("gpu:") {
            found.push(format!("gpu:{}", end.trim_start_matches("gpu:")));
        }
    }
    let systems = machine.file_systems.listed().iter();
    let below = systems.filter(|system| text.strip_prefix("fs:") == Some(&system.mount));
    found.extend(below.flat_map(|system| &system.disks).map(|disk| format!("disk:{disk}")));
    found
}

fn about_machine(text: &mut String, machine: &Machine, devices: &BTreeSet<String>) {
    let mut notes = Notes::default();
    for (label, said) in system::rows(machine, &mut notes) {
        let _ = writeln!(text, "  {label:<9}{}", clean(&said));
    }
    for (label, said) in serial_numbers(&machine.serials) {
        let _ = writeln!(text, "  {label:<9}{}", clean(&said));
    }
    for part in parts::all(machine).iter().filter(|part| devices.contains(part.subject.as_str())) {
        let ids = identity(machine, &part.subject).into_iter().map(|id| format!(", {id}"));
        let _ = writeln!(text, "  {:<9}{}{}", part.subject, part.text(), ids.collect::<String>());
    }
    for (mark, note) in notes.take() {
        let _ = writeln!(text, "  {mark} {note}");
    }
}

/// Serial numbers of the system and of each memory module.
fn serial_numbers(serials: &Serials) -> impl Iterator<Item = (&'static str, String)> {
    let module = |module: &ModuleSerial| {
        let slot = module.bank.iter().map(|bank| format!(" in bank {bank}")).collect::<String>();
        let maker = [&module.vendor, &module.part].into_iter().flatten().map(|text| format!("{text}, "));
        format!("{}{slot}: {}serial number {}", module.locator, maker.collect::<String>(), module.serial)
    };
    let system = serials.system.iter().map(|serial| ("system", format!("serial number {serial}")));
    system.chain(serials.modules.iter().map(move |it| ("module", module(it)))).collect::<Vec<_>>().into_iter()
}

/// Numbers that tell the part from others of its kind.
fn identity(machine: &Machine, subject: &Subject) -> Vec<String> {
    let known = |label: &str, fact: &Known<String>| fact.known().map(|value| format!("{label} {value}"));
    let of_disk = || {
        let mut disks = machine.disks.known()?.iter();
        let disk = disks.find(|disk| *subject == Subject::device("disk", &disk.name))?;
        Some(vec![known("serial number", &disk.serial), known("WWN", &disk.wwn)])
    };
    let of_gpu = || {
        let mut gpus = machine.gpus.known()?.iter();
        let gpu = gpus.find(|gpu| *subject == Subject::device("gpu", &gpu.index.to_string()))?;
        Some(vec![known("UUID", &gpu.uuid), Some(format!("PCI {}", gpu.pci.address))])
    };
    let of_nic = || {
        let nic = machine.nics.known()?.iter().find(|nic| *subject == Subject::device("nic", &nic.name))?;
        let pci = nic.pci.known().map(|pci| format!("PCI {}", pci.address));
        Some(vec![known("MAC", &nic.permanent_mac), known("firmware", &nic.firmware), pci])
    };
    let of_hca = || {
        let is_it = |name: &str| {
            subject.as_str().strip_prefix("hca:").and_then(|it| it.split('/').next()) == Some(name)
        };
        let hca = machine.hcas.known()?.iter().find(|hca| is_it(&hca.name))?;
        Some(vec![
            known("GUID", &hca.node_guid),
            known("board", &hca.board_id),
            known("firmware", &hca.firmware),
        ])
    };
    let found = of_disk().or_else(of_gpu).or_else(of_nic).or_else(of_hca);
    found.unwrap_or_default().into_iter().flatten().collect()
}

fn about_criterion(text: &mut String, record: &VerdictRecord, place: &str) {
    let value =
        measured(record).map_or_else(|| "not measured".to_owned(), |value| format!("measured {value}"));
    let margin = record.margin_percent.map(|percent| format!(" ({})", signed_percent(percent)));
    let _ = writeln!(
        text,
        "  {} {} on {place}: {value}, wanted {}{}",
        record.verdict,
        record.criterion,
        record.bound,
        margin.unwrap_or_default()
    );
    for reason in [&record.reason, &record.waiver].into_iter().flatten() {
        let _ = writeln!(text, "    {reason}");
    }
}

fn about_limit(text: &mut String, metric: Option<(&String, &MetricRecord)>) {
    if let Some((name, metric)) = metric
        && let (Some(value), Some(formula)) = (metric.limit.value, &metric.limit.formula)
    {
        let source =
            metric.limit.provenance.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
        let _ = writeln!(text, "    limit of {name}: {} = {formula}{source}", quantity(value, metric.unit));
    }
}
