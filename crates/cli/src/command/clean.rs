//! `seatrial clean`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use seatrial_bench::stale_dirs::{Inside, StaleDir, Standing, find, inside, remove};
use seatrial_model::Bytes;
use serde_json::{Value, json};

use crate::args::{CleanArgs, TableOrJson};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// The version of the JSON document's shape.
const SCHEMA: u32 = 1;

/// Where tests make their files when nobody names a directory.
const USUAL: [&str; 2] = [".", "/var/tmp"];

/// What became of one folder.
struct Outcome {
    path: PathBuf,
    /// The word: `removed`, `would remove`, `left`, `refused`.
    what: &'static str,
    why: String,
    inside: Option<Inside>,
}

/// Removes what interrupted runs left.
pub fn run(args: &CleanArgs) -> Result<Exit, CliError> {
    let mut outcomes = Vec::new();
    let usual = || USUAL.iter().map(PathBuf::from).collect();
    let directories: Vec<PathBuf> =
        if args.directories.is_empty() { usual() } else { args.directories.clone() };
    for directory in &directories {
        let found = find(directory);
        let found =
            found.map_err(|error| CliError::Usage(format!("reading {}: {error}", directory.display())))?;
        outcomes.extend(found.into_iter().map(|one| cleaned(one, args)));
    }
    let text = match args.output.output {
        TableOrJson::Json => {
            let folders: Vec<Value> = outcomes.iter().map(Outcome::document).collect();
            format!("{:#}\n", json!({ "schema": SCHEMA, "dry_run": args.dry_run, "folders": folders }))
        }
        TableOrJson::Table => text(&outcomes, &directories),
    };
    output::print(&text)?;
    let is_refused = outcomes.iter().any(|one| one.what == "refused");
    Ok(if is_refused { Exit::INCOMPLETE } else { Exit::MET })
}

fn cleaned(found: StaleDir, args: &CleanArgs) -> Outcome {
    let StaleDir { path, manifest, standing } = found;
    let process =
        manifest.as_ref().map_or(String::new(), |of| format!("process {} of {}", of.process, of.host));
    let of = |what: &'static str, why: String| Outcome { path: path.clone(), what, why, inside: None };
    match standing {
        Standing::Alive => {
            return of(
                "left",
                if process.is_empty() {
                    "it is being made".to_owned()
                } else {
                    format!("{process} still uses it")
                },
            );
        }
        Standing::Elsewhere if !args.other_hosts => {
            let why = format!(
                "whether {process} still uses it cannot be told from here; clean there, or say --other-hosts when it \
                 does not"
            );
            return of("left", why);
        }
        Standing::Strange(why) => return of("refused", why),
        Standing::Elsewhere | Standing::Abandoned => {}
    }
    let done = if args.dry_run { inside(&path) } else { remove(&path, None) };
    match done {
        Ok(inside) => {
            let what = if args.dry_run { "would remove" } else { "removed" };
            let bench = manifest.map_or(String::new(), |of| format!(" of {}", of.benchmark));
            let why = format!("{} files, {}{bench}", inside.files, Bytes(inside.bytes).rounded());
            Outcome { path, what, why, inside: Some(inside) }
        }
        Err(why) => of("refused", why),
    }
}

impl Outcome {
    fn document(&self) -> Value {
        let Inside { files, bytes } = self.inside.unwrap_or_default();
        let what = self.what.replace(' ', "_");
        json!({ "path": self.path, "outcome": what, "reason": self.why, "files": files, "bytes": bytes })
    }
}

fn text(outcomes: &[Outcome], directories: &[PathBuf]) -> String {
    let mut text = String::new();
    for one in outcomes {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{} {}: {}", one.what, one.path.display(), one.why);
    }
    if outcomes.is_empty() {
        let names: Vec<_> = directories.iter().map(|path| Path::display(path).to_string()).collect();
        let _ = writeln!(text, "nothing of Seatrial was left in {}", names.join(", "));
    }
    for directory in directories {
        let (files, bytes) = nameless_over_nfs(directory);
        if files > 0 {
            let _ = writeln!(
                text,
                "left {}: {files} files .nfs... of {}: a client of NFS gives this name to a file that lost its own while \
                 a process had it open, as those of tests do; whose they are is not known, so remove by hand those that \
                 no process uses",
                directory.display(),
                Bytes(bytes).rounded()
            );
        }
    }
    text
}

/// The files in `directory` that have the name which a client of NFS gives to a file without one (`.nfs` and 24
/// hexadecimal digits, fs/nfs/unlink.c), and their bytes.
fn nameless_over_nfs(directory: &Path) -> (u64, u64) {
    let is_such = |name: &str| {
        let number = name.strip_prefix(".nfs").unwrap_or_default();
        number.len() == 24 && number.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let named = entries.filter(|entry| is_such(&entry.file_name().to_string_lossy()));
    let abouts = named.filter_map(|entry| entry.metadata().ok());
    abouts
        .filter(fs::Metadata::is_file)
        .fold((0, 0), |(files, bytes), about| (files + 1, bytes + about.len()))
}
