//! What is no ordinary file: a hole, nothing, links, modes.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use seatrial_bench::directory::failed;
use seatrial_model::Reason;

use super::check::Wrong;

/// Bytes of the file with a hole, of which the last [`CONTENT`] are written.
const SPARSE: u64 = 8 << 20;

const CONTENT: &[u8] = b"seatrial\n";

/// How many files and directories [`make`] makes.
pub const NUMBER: u64 = 7;

/// Makes them in `folder`.
pub fn make(folder: &Path) -> Result<(), Reason> {
    made(folder).map_err(|error| failed("making links and special files in", folder, &error))
}

fn made(folder: &Path) -> io::Result<()> {
    let file = File::create_new(folder.join("sparse"))?;
    file.set_len(SPARSE - CONTENT.len() as u64)?;
    let mut file = fs::OpenOptions::new().append(true).open(folder.join("sparse"))?;
    file.write_all(CONTENT)?;
    File::create_new(folder.join("empty"))?;
    fs::create_dir(folder.join("nothing"))?;
    for (name, mode) in [("private", 0o600), ("program", 0o755)] {
        let path = folder.join(name);
        fs::write(&path, CONTENT)?;
        fs::set_permissions(&path, Permissions::from_mode(mode))?;
    }
    symlink("private", folder.join("symbolic"))?;
    fs::hard_link(folder.join("private"), folder.join("hard"))
}

/// What of them differs from what [`make`] made.
pub fn check(folder: &Path) -> Result<Vec<Wrong>, Reason> {
    differing(folder).map_err(|error| failed("looking at links and special files in", folder, &error))
}

fn differing(folder: &Path) -> io::Result<Vec<Wrong>> {
    let of = |name: &str| fs::symlink_metadata(folder.join(name));
    let (sparse, private) = (of("sparse")?, of("private")?);
    let content = fs::read(folder.join("sparse"))?;
    let (hole, end) = content.split_at(content.len().saturating_sub(CONTENT.len()));
    let told = [
        (
            content.len() as u64 == SPARSE && end == CONTENT && hole.iter().all(|byte| *byte == 0),
            "sparse: its content",
        ),
        (sparse.blocks() * 512 < SPARSE, "sparse: its hole is filled"),
        (of("empty")?.is_file() && of("empty")?.len() == 0, "empty: not an empty file"),
        (
            of("nothing")?.is_dir() && fs::read_dir(folder.join("nothing"))?.next().is_none(),
            "nothing: not an empty directory",
        ),
        (private.mode() & 0o777 == 0o600, "private: its mode"),
        (of("program")?.mode() & 0o777 == 0o755, "program: its mode"),
        (fs::read(folder.join("program"))? == CONTENT, "program: its content"),
        (
            fs::read_link(folder.join("symbolic")).is_ok_and(|to| to == Path::new("private")),
            "symbolic: not that link",
        ),
        (of("hard")?.ino() == private.ino(), "hard: not the file private"),
        (fs::read(folder.join("hard"))? == CONTENT, "private: its content"),
    ];
    let wrong = told.into_iter().filter(|(is_right, _)| !is_right);
    Ok(wrong.map(|(_, what)| Wrong(format!("{}/{what}", folder.display()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_changed_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        make(at).expect("made");
        assert_eq!(fs::read_dir(at).expect("listed").count() as u64, NUMBER);
        assert_eq!(check(at).expect("looked"), Vec::new());
        fs::remove_file(at.join("hard")).expect("removed");
        fs::copy(at.join("private"), at.join("hard")).expect("copied");
        fs::set_permissions(at.join("program"), Permissions::from_mode(0o644)).expect("changed");
        fs::write(at.join("nothing/more"), "").expect("written");
        let told: Vec<String> = check(at).expect("looked").into_iter().map(|wrong| wrong.0).collect();
        let ends = ["nothing: not an empty directory", "program: its mode", "hard: not the file private"];
        assert_eq!(told.len(), ends.len(), "{told:?}");
        assert!(told.iter().zip(ends).all(|(told, end)| told.ends_with(end)), "{told:?}");
    }
}
