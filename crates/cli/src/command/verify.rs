//! `seatrial verify`.

use std::fmt::Write;

use seatrial_model::Verdict;
use seatrial_report::clean_lines;
use seatrial_store::{Contents, Fault, Tool, look};
use serde_json::{Value, json};

use crate::args::{TableOrJson, VerifyArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::recomputed::{Judged, Recomputed};

const SCHEMA: u32 = 1;

/// Printed lines of one kind; further ones are counted.
const MOST_LINES: usize = 20;

/// Verifies an evidence file: seal and checksums, then records against samples, then verdicts against records.
pub fn run(args: &VerifyArgs) -> Result<Exit, CliError> {
    let mut contents = Contents::default();
    let mut recomputed = Recomputed::new(seatrial_registry::REGISTRY);
    // A panic caused by foreign samples is part of the result, without its position in the code.
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let looked = look(&args.file, &mut |path, text| {
        if let Some(samples) = contents.take(path, text) {
            recomputed.add(&contents, &samples);
        }
    });
    std::panic::set_hook(told);
    let looked = looked.map_err(|error| CliError::Usage(error.to_string()))?;
    let mut faults = looked.faults;
    if let Some(manifest) = looked.manifest.as_ref().filter(|_| faults.is_empty()) {
        faults.extend(strange(&contents, &manifest.run));
    }
    let is_sound = faults.is_empty() && looked.newer.is_none();
    let (judged, verdict) = if is_sound { recomputed.judge(&contents) } else { (Judged::Never, None) };
    let found = Found {
        run: looked.manifest.map(|manifest| manifest.run),
        faults,
        newer: looked.newer,
        here: Tool::running(env!("CARGO_PKG_VERSION")).ok(),
        contents,
        recomputed,
        judged,
        verdict,
    };
    let text = match args.output.output {
        TableOrJson::Json => format!("{:#}\n", found.document(args)),
        // Text of others, as all of the file may be.
        TableOrJson::Table => clean_lines(&found.text(args)),
    };
    output::print(&text)?;
    Ok(found.result().1)
}

/// What no export writes, although all checksums are right.
fn strange(contents: &Contents, run: &str) -> Option<Fault> {
    let fault = |text: String| Some(Fault { file: Some("run.json".to_owned()), text });
    match &contents.info {
        Some(info) if info.id == run => None,
        Some(info) => fault(format!("it is of run {}, the manifest of run {run}", info.id)),
        // Reported as damage.
        None if contents.damage.iter().any(|damage| damage.file.ends_with("run.json")) => None,
        None => fault("it is missing".to_owned()),
    }
}

struct Found {
    run: Option<String>,
    faults: Vec<Fault>,
    newer: Option<u32>,
    here: Option<Tool>,
    contents: Contents,
    recomputed: Recomputed,
    judged: Judged,
    verdict: Option<Verdict>,
}

impl Found {
    /// The result as a word, and the exit code.
    fn result(&self) -> (&'static str, Exit) {
        if !self.faults.is_empty() {
            return ("changed", Exit::NOT_MET);
        }
        let differs = !self.recomputed.discrepancies.is_empty();
        if differs && self.is_own_build() {
            return ("contradicts_itself", Exit::NOT_MET);
        }
        if differs {
            return ("other_build", Exit::INCOMPLETE);
        }
        let is_whole =
            self.newer.is_none() && self.contents.damage.is_empty() && self.recomputed.cannot.is_empty();
        if is_whole { ("verified", Exit::MET) } else { ("incomplete", Exit::INCOMPLETE) }
    }

    /// Whether the binary that measured everything is the one that verifies.
    fn is_own_build(&self) -> bool {
        let tools = &self.contents.tools;
        !tools.is_empty() && tools.iter().all(|tool| Some(tool) == self.here.as_ref())
    }

    fn wrote(&self) -> String {
        let tool =
            |tool: &Tool| format!("seatrial {} ({})", tool.version, &tool.sha256.get(..12).unwrap_or(""));
        match self.contents.tools.as_slice() {
            [] => "an unrecorded build".to_owned(),
            tools => tools.iter().map(tool).collect::<Vec<_>>().join(", then "),
        }
    }

    fn text(&self, args: &VerifyArgs) -> String {
        let mut text = String::new();
        let (word, _) = self.result();
        let of = self.run.as_deref().map_or(String::new(), |run| format!(" of run {run}"));
        let file = args.file.display();
        let told = match word {
            "verified" => "unchanged, and its verdicts follow from its samples",
            "changed" => "it is damaged, or is not an evidence file of Seatrial",
            "contradicts_itself" => {
                "its checksums are right, but its results do not follow from its samples: it was changed, \
                 and the checksums were recomputed"
            }
            "other_build" => {
                "its checksums are right, but this build computes other results from its samples than the \
                 build that wrote it: verify it with that build before you call it changed"
            }
            _ => "its checksums are right, but not all results could be recomputed",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{file}{of}: {word}: {told}");
        if let Some(schema) = self.newer {
            let _ = writeln!(
                text,
                "  its form {schema} is newer than this Seatrial: use the version that wrote it"
            );
        }
        lines(&mut text, self.faults.iter().map(ToString::to_string));
        lines(&mut text, self.contents.damage.iter().map(|damage| format!("cannot be read: {damage}")));
        lines(&mut text, self.recomputed.discrepancies.iter().map(ToString::to_string));
        lines(
            &mut text,
            self.recomputed.cannot.iter().map(|(case, why)| format!("case {case} was not recomputed: {why}")),
        );
        if self.faults.is_empty() && self.newer.is_none() {
            let (made, kept) = (self.recomputed.count(), self.recomputed.as_recorded);
            let _ = writeln!(text, "  measured by {}", self.wrote());
            let _ =
                writeln!(text, "  recomputed from samples: {made} of {} cases", self.contents.results.len());
            if kept > 0 {
                let _ = writeln!(
                    text,
                    "  {kept} ended because a process failed, which samples do not show; these stay as recorded"
                );
            }
            let verdict = self.verdict.map_or("no verdict, findings alone", Verdict::word);
            let _ = match self.judged {
                Judged::Never => writeln!(text, "  the run was stopped before it was judged"),
                Judged::ToTheByte => writeln!(text, "  judged again: the same, byte for byte ({verdict})"),
                Judged::InOtherWords => {
                    writeln!(text, "  judged again: the same ({verdict}), written in another form")
                }
                Judged::Otherwise => writeln!(text, "  judged again: something else ({verdict})"),
            };
        }
        text
    }

    fn document(&self, args: &VerifyArgs) -> Value {
        let fault = |fault: &Fault| json!({ "file": fault.file, "text": fault.text });
        let cannot = |(case, why): &(seatrial_model::CaseId, String)| json!({ "case": case, "reason": why });
        json!({
            "schema": SCHEMA,
            "file": args.file,
            "run": self.run,
            "result": self.result().0,
            "faults": self.faults.iter().map(fault).collect::<Vec<_>>(),
            "newer_form": self.newer,
            "damage": self.contents.damage.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "discrepancies": self.recomputed.discrepancies,
            "cases": {
                "all": self.contents.results.len(),
                "made_again": self.recomputed.count(),
                "as_recorded": self.recomputed.as_recorded,
                "not_made_again": self.recomputed.cannot.iter().map(cannot).collect::<Vec<_>>(),
            },
            "judged": match self.judged {
                Judged::Never => "never",
                Judged::ToTheByte => "to_the_byte",
                Judged::InOtherWords => "in_other_words",
                Judged::Otherwise => "otherwise",
            },
            "verdict": self.verdict,
            "measured_by": self.contents.tools,
            "verified_by": self.here,
        })
    }
}

fn lines(text: &mut String, all: impl ExactSizeIterator<Item = String>) {
    let more = all.len().saturating_sub(MOST_LINES);
    for line in all.take(MOST_LINES) {
        let _ = writeln!(text, "  {line}");
    }
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
}
