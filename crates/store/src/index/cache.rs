//! Opening the file of the index, or finding out why it cannot be used.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::lock::{self, Lock, Locking};
use crate::{Home, StoreError};

/// Rises when the tables change; an index of another version is built anew.
const VERSION: i32 = 2;

/// "SeaT": marks the file as ours, so that another program's database is never taken for an index.
const APPLICATION: i32 = 0x5365_6154;

/// How long another process may keep the index before we do without it.
const PATIENCE: Duration = Duration::from_secs(2);

const TABLES: &str = "
    CREATE TABLE runs (
        run TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,
        summary TEXT NOT NULL
    ) STRICT;
    CREATE TABLE metrics (
        run TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
        bench TEXT NOT NULL,
        \"case\" TEXT NOT NULL,
        subject TEXT NOT NULL,
        node TEXT NOT NULL,
        outcome TEXT NOT NULL,
        verdict TEXT,
        metric TEXT,
        unit TEXT,
        median REAL,
        lo REAL,
        hi REAL
    ) STRICT;
    CREATE INDEX metrics_run ON metrics (run);
    CREATE INDEX metrics_bench ON metrics (bench, metric);
";

/// An open index. Only one process has it at a time.
#[derive(Debug)]
pub struct Cache {
    pub connection: Connection,
    _lock: Option<Lock>,
}

/// Why the file cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// What is in it is damaged, or not an index of this version. Built anew, it would do.
    Wrong(String),
    /// It cannot be opened or written at all.
    Closed(String),
}

impl Unusable {
    pub fn into_text(self) -> String {
        match self {
            Unusable::Wrong(why) | Unusable::Closed(why) => why,
        }
    }
}

impl From<rusqlite::Error> for Unusable {
    fn from(error: rusqlite::Error) -> Self {
        let closed = [
            ErrorCode::DatabaseBusy,
            ErrorCode::DatabaseLocked,
            ErrorCode::ReadOnly,
            ErrorCode::PermissionDenied,
            ErrorCode::SystemIoFailure,
            ErrorCode::DiskFull,
            ErrorCode::CannotOpen,
            ErrorCode::FileLockingProtocolFailed,
            ErrorCode::NoLargeFileSupport,
            ErrorCode::OutOfMemory,
        ];
        match error.sqlite_error_code() {
            Some(code) if closed.contains(&code) => Unusable::Closed(error.to_string()),
            _ => Unusable::Wrong(error.to_string()),
        }
    }
}

impl Cache {
    /// The index of `home`, made if missing, and made anew if it is not one of ours.
    ///
    /// Our own lock comes before SQLite's: replacing a damaged file under the feet of another process could mate its
    /// rollback journal with the new file.
    pub fn open(home: &Home) -> Result<Self, Unusable> {
        let closed = |error: io::Error| Unusable::Closed(error.to_string());
        let lock = match lock::take_within(&home.path().join("index.lock"), PATIENCE).map_err(closed)? {
            Locking::Held(lock) => lock,
            Locking::Taken => return Err(Unusable::Closed("another process keeps it locked".to_owned())),
            Locking::Unsupported(error) => return Err(Unusable::Closed(format!("no locks: {error}"))),
        };
        let connection = match connect(&home.index()) {
            Err(Unusable::Wrong(_)) => {
                remove(home).map_err(|error| Unusable::Closed(error.to_string()))?;
                connect(&home.index())?
            }
            other => other?,
        };
        Ok(Self { connection, _lock: Some(lock) })
    }

    /// The same tables, empty and in memory.
    pub fn in_memory() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        create_tables(&connection)?;
        Ok(Self { connection, _lock: None })
    }

    /// Empties the index, for when its content turned out to be wrong only after it was opened.
    pub fn rebuilt(self, home: &Home) -> Result<Self, Unusable> {
        let Self { connection, _lock } = self;
        drop(connection);
        remove(home).map_err(|error| Unusable::Closed(error.to_string()))?;
        Ok(Self { connection: connect(&home.index())?, _lock })
    }
}

fn connect(path: &Path) -> Result<Connection, Unusable> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // A write-ahead log needs shared memory, which network file systems do not give.
    connection.pragma_update(None, "journal_mode", "DELETE")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    match (number("application_id")?, number("user_version")?) {
        (0, 0) if is_empty(&connection)? => create_tables(&connection)?,
        (APPLICATION, VERSION) => {}
        (application, version) => {
            return Err(Unusable::Wrong(format!(
                "application {application:#x} version {version} is not ours"
            )));
        }
    }
    let check: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if check == "ok" { Ok(connection) } else { Err(Unusable::Wrong(check)) }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", (), |row| row.get(0))
}

/// All or nothing, so that a kill in between leaves an empty file instead of half an index.
fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
    ))
}

fn remove(home: &Home) -> Result<(), StoreError> {
    let index = home.index();
    for path in [index.with_extension("sqlite-journal"), index] {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("removing", &path, error));
            }
            _ => {}
        }
    }
    Ok(())
}
