//! What became of each fault, as a table.

use super::judge::Judged;
use super::planted::Strength;

const HEAD: &str = "| fault | strength | who | confidence | blamed wrongly | cause | gain | cases | s |\n|---|---|---|---|---|---|---|---|---|";

/// A row of the table.
pub fn row(judged: &Judged<'_>) -> String {
    let yes = |is_so: bool| if is_so { "right" } else { "missed" };
    let is_sound = judged.fault.is_sound();
    let (who, cause) = match is_sound {
        true => ("", ""),
        false => (yes(judged.is_right()), yes(judged.has_cause)),
    };
    let Judged { fault, cases, seconds, confidence, .. } = judged;
    let gain = judged.gain.as_ref().map(ToString::to_string).unwrap_or_default();
    format!(
        "| {}: {} | {} | {who} | {confidence} | {} | {cause} | {gain} | {cases} | {seconds:.0} |",
        fault.name,
        fault.what,
        fault.strength,
        judged.blamed().join(" ")
    )
}

/// All rows, and the sums by strength.
pub fn table(all: &[Judged<'_>]) -> String {
    let rows: Vec<String> = all.iter().map(row).collect();
    let sum = |strength: Strength| {
        let of: Vec<&Judged<'_>> =
            all.iter().filter(|one| one.fault.strength == strength && !one.fault.is_sound()).collect();
        let who = of.iter().filter(|one| one.is_right()).count();
        let cause = of.iter().filter(|one| one.has_cause).count();
        format!("{strength}: who right {who} of {n}, cause right {cause} of {n}", n = of.len())
    };
    let sums: Vec<String> = [Strength::Plain, Strength::Weak, Strength::Just].map(sum).into();
    let blamed = all.iter().filter(|one| !one.blamed().is_empty()).count();
    format!(
        "{HEAD}\n{}\n\n{}; sound nodes blamed in {blamed} of {}",
        rows.join("\n"),
        sums.join("; "),
        all.len()
    )
}
