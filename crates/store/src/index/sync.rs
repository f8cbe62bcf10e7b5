//! Bringing the index up to date with the folders.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::cache::Unusable;
use super::row::{MetricRow, RunSummary, to_word};
use crate::folder::Files;
use crate::{RunFolder, StoreError};

/// Makes the tables say what the folders `ids` of `runs` say: reads what changed, forgets what is gone.
pub fn sync(connection: &mut Connection, runs: &Path, ids: &[String]) -> Result<(), Unusable> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut known = stamps(&transaction)?;
    for id in ids {
        let files = Files::of(runs.join(id));
        let stamp = stamp(&files);
        if known.remove(id).as_ref() != Some(&stamp) {
            forget(&transaction, id)?;
            keep(&transaction, id, &stamp, &files)?;
        }
    }
    for gone in known.keys() {
        forget(&transaction, gone)?;
    }
    Ok(transaction.commit()?)
}

fn stamps(transaction: &Transaction<'_>) -> rusqlite::Result<HashMap<String, String>> {
    let mut statement = transaction.prepare("SELECT run, stamp FROM runs")?;
    statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Tells one state of a run's files from another. Times are only compared for being equal, so that it does not matter
/// where the clock stands; a file replaced by rename has another inode.
fn stamp(files: &Files) -> String {
    let of = |path: std::path::PathBuf| match std::fs::metadata(path) {
        Ok(about) => format!("{}:{}:{}.{}", about.ino(), about.size(), about.mtime(), about.mtime_nsec()),
        Err(_) => "-".to_owned(),
    };
    [files.run(), files.plan(), files.results(), files.verdicts()].map(of).join(" ")
}

fn forget(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM metrics WHERE run = ?1", [id])?;
    transaction.execute("DELETE FROM runs WHERE run = ?1", [id])?;
    Ok(())
}

fn keep(transaction: &Transaction<'_>, id: &str, stamp: &str, files: &Files) -> Result<(), Unusable> {
    let (summary, rows) = match RunFolder::open(files.folder()) {
        Ok(run) => (RunSummary::of(&run), MetricRow::of(&run)),
        // Removed since its name was read: nothing to keep.
        Err(StoreError::NotARun { .. }) => return Ok(()),
        Err(error) => {
            (RunSummary { unreadable: Some(error.to_string()), ..RunSummary::default() }, Vec::new())
        }
    };
    let summary = serde_json::to_string(&summary).map_err(|error| Unusable::Closed(error.to_string()))?;
    transaction
        .execute("INSERT INTO runs (run, stamp, summary) VALUES (?1, ?2, ?3)", [id, stamp, &summary])?;
    let mut insert = transaction.prepare(
        "INSERT INTO metrics (run, \"case\", bench, subject, node, outcome, verdict, metric, unit, median, lo, hi)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    for row in rows {
        let value = row.value.as_ref();
        let interval = value.and_then(|value| value.interval);
        insert.execute(params![
            id,
            row.case,
            row.bench,
            row.subject,
            row.node,
            to_word(row.outcome)?,
            row.verdict.map(seatrial_model::Verdict::word),
            value.map(|value| value.metric.as_str()),
            value.map(|value| value.unit.symbol()),
            value.map(|value| value.median),
            interval.map(|(lo, _)| lo),
            interval.map(|(_, hi)| hi),
        ])?;
    }
    Ok(())
}
