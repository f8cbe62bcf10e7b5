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

const SCHEMA: u32 = 1;

/// Default directories of tests.
const USUAL: [&str; 2] = [".", "/var/tmp"];

struct Outcome {
    path: PathBuf,
    /// `removed`, `would remove`, `left` or `refused`.
    what: &'static str,
    why: String,
    inside: Option<Inside>,
}

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
                    "it is being created".to_owned()
                } else {
                    format!("{process} still uses it")
                },
            );
        }
        Standing::Elsewhere if !args.other_hosts => {
            let why = format!(
                "it is unknown whether {process} still uses it; run `seatrial clean` there, or use \
                 --other-hosts if the process is gone"
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
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {}: {}", one.what, one.path.display(), one.why);
    }
    if outcomes.is_empty() {
        let names: Vec<_> = directories.iter().map(|path| Path::display(path).to_string()).collect();
        let _ = writeln!(text, "there are no files of interrupted runs in {}", names.join(", "));
    }
    for directory in directories {
        let (files, bytes) = nameless_over_nfs(directory);
        if files > 0 {
            let _ = writeln!(
                text,
                "left {}: {files} files .nfs... of {}: an NFS client gives this name to a file that was \
                 removed while a process had it open, as files of tests are; their owner is unknown, so \
                 remove those that no process uses by hand",
                directory.display(),
                Bytes(bytes).rounded()
            );
        }
    }
    text
}

/// Number and bytes of the files in `directory` that an NFS client renamed on removal while open (`.nfs` and 24
/// hexadecimal digits, fs/nfs/unlink.c).
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
