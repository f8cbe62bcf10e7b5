//! Refuses to copy a directory into itself: the copy would be found by the scan and copied again, level by level.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::entry::Root;

/// Why not, if the `target` as typed lies in one of `roots`, or comes to lie there when it is made. A directory that would be
/// copied to the very place where it is may be: everything is there already.
pub fn refuse_into_itself<'a>(
    roots: impl IntoIterator<Item = &'a Root>,
    target: &[u8],
) -> Result<(), String> {
    let target = Path::new(OsStr::from_bytes(if target.is_empty() { b"." } else { target }));
    for root in roots {
        if is_inside(root, target) {
            let source = root.base.display();
            return Err(format!("{source} would be copied into itself; choose a target outside of it"));
        }
    }
    Ok(())
}

fn is_inside(root: &Root, target: &Path) -> bool {
    let takes_contents = root.name.is_empty();
    // A link is copied as a link, unless what it leads to was meant.
    let about = if takes_contents { fs::metadata(&root.base) } else { fs::symlink_metadata(&root.base) };
    let Some(source) = about.ok().filter(fs::Metadata::is_dir) else { return false };
    // What is not there yet is made below the first directory above it that is. Links are followed as when it is opened.
    let above = target.ancestors().map(|path| if path == Path::new("") { Path::new(".") } else { path });
    let Some((found, there)) = above.into_iter().find_map(|path| Some((path, fs::canonicalize(path).ok()?)))
    else {
        return false;
    };
    let is_source = |path: &Path| {
        fs::metadata(path).is_ok_and(|about| (about.dev(), about.ino()) == (source.dev(), source.ino()))
    };
    let is_onto_itself = takes_contents && found == target && is_source(&there);
    // By the numbers of the directories: one may have several paths, by a bind mount for one.
    !is_onto_itself && there.ancestors().any(is_source)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;
    use crate::scan::roots;

    fn is_refused(source: PathBuf, target: &Path) -> bool {
        let roots = roots(&[source]).expect("there");
        let refused = refuse_into_itself(roots.iter().map(AsRef::as_ref), target.as_os_str().as_bytes());
        if let Err(text) = &refused {
            assert!(text.ends_with("would be copied into itself; choose a target outside of it"), "{text}");
        }
        refused.is_err()
    }

    #[test]
    fn a_directory_does_not_go_into_itself_by_any_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("tree/sub")).expect("made");
        fs::create_dir(at("tree2")).expect("made");
        fs::write(at("tree/file"), "content").expect("written");
        symlink(at("tree"), at("to tree")).expect("linked");
        symlink(at("tree/sub"), at("to sub")).expect("linked");
        symlink(at("tree2"), at("tree/away")).expect("linked");
        for source in ["tree", "tree/", "tree/.", "tree2/../tree", "to tree/"] {
            for target in [
                "tree/sub",
                "tree/new",
                "tree/new/deeper/",
                "to tree/new",
                "to sub",
                "to sub/new",
                "tree2/../tree/new",
            ] {
                assert!(is_refused(at(source), &at(target)), "{source} to {target}");
            }
            for target in ["", "new", "tree2", "tree2/new", "tree/..", "tree/away", "tree/away/new"] {
                assert!(!is_refused(at(source), &at(target)), "{source} to {target}");
            }
        }
        // `tree` would become `tree/tree`; what is in it is there already.
        for target in ["tree", "to tree", "tree/sub/.."] {
            assert!(is_refused(at("tree"), &at(target)), "tree to {target}");
            assert!(!is_refused(at("tree/"), &at(target)), "tree/ to {target}");
        }
        // Neither a file nor a link has anything in it.
        for source in ["tree/file", "to tree"] {
            assert!(!is_refused(at(source), &at("tree/sub")), "{source}");
        }
    }
}
