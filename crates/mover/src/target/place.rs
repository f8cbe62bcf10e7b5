//! Which directory a target stands for.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::failure::explained;

/// The directory that is copied into, and the name of the only file if it gets another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub directory: PathBuf,
    pub renamed: Option<Vec<u8>>,
}

/// What the `target` as typed stands for: the directory that sources are copied into, which is made unless `is_dry`; for an
/// only file and a target that is no directory and ends in no slash, the file's new path.
pub fn target_place(target: &[u8], only_file: Option<&[u8]>, is_dry: bool) -> Result<Place, String> {
    let path = Path::new(OsStr::from_bytes(if target.is_empty() { b"." } else { target }));
    let told = |doing: &str, error: &io::Error| format!("{}: {}", path.display(), explained(doing, error));
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => return Ok(Place { directory: path.to_owned(), renamed: None }),
        Ok(_) if only_file.is_none() || target.ends_with(b"/") => {
            return Err(format!("{} is no directory; choose another target", path.display()));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(told("reading the target", &error));
        }
        _ => {}
    }
    if only_file.is_some() && !target.ends_with(b"/") {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map(|name| name.as_bytes().to_vec());
        if !parent.is_dir() {
            return Err(format!("{} is no directory; make it first", parent.display()));
        }
        return Ok(Place { directory: parent.to_owned(), renamed: name });
    }
    if !is_dry {
        fs::create_dir_all(path).map_err(|error| told("making the target directory", &error))?;
    }
    Ok(Place { directory: path.to_owned(), renamed: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_command_means_the_same_a_second_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).into_os_string().into_encoded_bytes();
        for _ in 0..2 {
            let tree = target_place(&at("new"), None, false).expect("made");
            assert_eq!(tree, Place { directory: folder.path().join("new"), renamed: None });
            let file = target_place(&at("name"), Some(b"file"), false).expect("found");
            assert_eq!(file, Place { directory: folder.path().to_owned(), renamed: Some(b"name".to_vec()) });
            fs::write(folder.path().join("name"), "copied").expect("written");
        }
        assert!(target_place(&at("name"), None, false).expect_err("refused").contains("no directory"));
        assert!(
            target_place(&at("none/name"), Some(b"file"), false).expect_err("refused").contains("make it")
        );
        target_place(&at("dry"), None, true).expect("nothing to do");
        assert!(!folder.path().join("dry").exists());
    }
}
