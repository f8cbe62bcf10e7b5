//! Takes changes back by their journals, the newest first.

use seatrial_model::setting::{ChangeOutcome, ChangeState, SettingsAnswer};

use super::durable;
use super::files::{KernelFiles, is_same};
use super::journal::{Announced, Entry, Journal, Journals, ids};
use crate::found::written_form;

pub(super) fn restore(
    files: &dyn KernelFiles,
    asked: &[String],
    force: bool,
) -> Result<SettingsAnswer, String> {
    let root = files.root();
    let mut answer = SettingsAnswer::default();
    let known = ids(root)?;
    if !known.iter().any(|id| asked.contains(id)) {
        return Ok(SettingsAnswer { journals: known, ..answer });
    }
    let journals = Journals::open(root)?;
    for id in ids(root)?.iter().rev().filter(|id| asked.contains(id)) {
        let done = journals.resume(id).and_then(|journal| {
            let Some(mut journal) = journal else { return Ok(()) };
            take_back(files, &mut journal, force, &mut answer.outcomes)?;
            if journal.has_open_entries() { Ok(()) } else { journals.remove(&journal, files) }
        });
        // The other journals are none the worse for it.
        if let Err(why) = done {
            answer.refused.get_or_insert(why);
        }
    }
    answer.journals = ids(root)?;
    Ok(answer)
}

/// Takes back the entries in reverse order. What was refused is tried again after the others, since one setting may hold
/// another (the governor the energy preference), until nothing more gives way.
fn take_back(
    files: &dyn KernelFiles,
    journal: &mut Journal,
    force: bool,
    outcomes: &mut Vec<ChangeOutcome>,
) -> Result<(), String> {
    let mut open: Vec<usize> =
        (0..journal.entries.len()).rev().filter(|at| !journal.entries[*at].closed).collect();
    loop {
        let mut refused = Vec::new();
        let before = open.len();
        for at in open {
            let outcome = undo(files, &journal.entries[at], force);
            if outcome.state.is_good() {
                outcomes.push(outcome);
                journal.close(at, files)?;
            } else {
                refused.push((at, outcome));
            }
        }
        if refused.is_empty() || refused.len() == before {
            outcomes.extend(refused.into_iter().map(|(_, outcome)| outcome));
            return Ok(());
        }
        open = refused.into_iter().map(|(at, _)| at).collect();
    }
}

fn undo(files: &dyn KernelFiles, Entry { announced, held, .. }: &Entry, force: bool) -> ChangeOutcome {
    let (path, before) = (&announced.path, &announced.before);
    let outcome = |present: &str, after: &str, state, why: String| ChangeOutcome {
        setting: announced.setting.clone(),
        place: path.clone(),
        before: written_form(present).to_owned(),
        after: written_form(after).to_owned(),
        state,
        why,
    };
    if announced.is_file {
        return remove(files, announced, force, outcome);
    }
    let present = match files.text(path) {
        Ok(present) => present,
        Err(error) if error.is_missing() => {
            let why = format!("{path} is gone, and its value with it");
            return outcome("", "", ChangeState::Unchanged, why);
        }
        Err(error) => return outcome("", "", ChangeState::Failed, error.to_string()),
    };
    if is_same(&present, before) {
        let why = "it has its former value already".to_owned();
        return outcome(&present, before, ChangeState::Unchanged, why);
    }
    // A change that was not read back may hold a value that the kernel chose.
    let is_ours = held.as_ref().is_none_or(|held| is_same(&present, held));
    if !is_ours && !force {
        let why = format!(
            "it was set to '{}' since, by somebody else or a later change; --force restores '{}' all the same",
            written_form(&present),
            written_form(before)
        );
        return outcome(&present, &present, ChangeState::Left, why);
    }
    let written = files.write(path, &format!("{}\n", written_form(before)));
    let after = files.text(path).unwrap_or_default();
    match written {
        _ if is_same(&after, before) => outcome(&present, &after, ChangeState::Done, String::new()),
        Ok(()) => {
            let why = format!("the system took '{}', but holds another value", written_form(before));
            outcome(&present, &after, ChangeState::Failed, why)
        }
        Err(errno) => {
            let why = format!("{path} does not take '{}' ({errno})", written_form(before));
            outcome(&present, &after, ChangeState::Failed, why)
        }
    }
}

/// Removes a file that sets values at boot.
fn remove(
    files: &dyn KernelFiles,
    Announced { path, wanted, .. }: &Announced,
    force: bool,
    outcome: impl Fn(&str, &str, ChangeState, String) -> ChangeOutcome,
) -> ChangeOutcome {
    const THERE: &str = "a file";
    const GONE: &str = "no file";
    let is_there = match files.text(path) {
        Ok(present) if present != *wanted && !force => {
            let why = "somebody has changed it since; --force removes it all the same".to_owned();
            return outcome(THERE, THERE, ChangeState::Left, why);
        }
        Ok(_) => true,
        Err(error) if error.is_missing() => false,
        Err(error) => return outcome("", "", ChangeState::Failed, error.to_string()),
    };
    match durable::remove(files.root(), path) {
        Ok(()) if !is_there => outcome(GONE, GONE, ChangeState::Unchanged, String::new()),
        Ok(()) => outcome(THERE, GONE, ChangeState::Done, String::new()),
        Err(error) => outcome(THERE, THERE, ChangeState::Failed, format!("removing {path}: {error}")),
    }
}
