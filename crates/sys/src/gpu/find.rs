//! Where libraries for GPUs are besides where the dynamic linker looks: in Python wheels, CUDA toolkits, NVIDIA's HPC SDK
//! and ROCm.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsString};
use std::path::{Path, PathBuf};

use crate::library::{Library, LibraryError};

/// Variables that name the prefix of an installation, whose libraries lie in [`BELOW`].
const PREFIXES: [&str; 5] = ["NCCL_HOME", "CUDA_HOME", "CUDA_PATH", "NVHPC_ROOT", "ROCM_PATH"];

/// Folders of libraries below the prefix of an installation.
const BELOW: [&str; 6] =
    ["lib64", "lib", "targets/*/lib", "math_libs/lib64", "comm_libs/nccl/lib", "cuda/lib64"];

/// Prefixes of installations, in the order in which they are tried; a star stands for any text within a name.
const INSTALLED: [&str; 5] =
    ["usr/local/cuda", "usr/local/cuda-*", "opt/cuda", "opt/nvidia/hpc_sdk/Linux_*/*", "opt/rocm*"];

/// Folders of Python packages below the prefix of a Python.
const PACKAGES: [&str; 5] = [
    "lib/python3*/site-packages",
    "lib64/python3*/site-packages",
    "lib/python3*/dist-packages",
    "lib/python3/dist-packages",
    "local/lib/python3*/dist-packages",
];

/// Folders of libraries of a Python package: those of NVIDIA's wheels, and of PyTorch's.
const OF_PACKAGE: [&str; 2] = ["nvidia/*/lib", "torch/lib"];

/// The library that was named, a file or a folder; if none was, each of `names` where the dynamic linker finds it, and then
/// in the folders of this module. `env` reads a variable of the environment, `root` is `/`.
pub fn candidates(
    names: &[&str],
    named: Option<&Path>,
    env: impl Fn(&str) -> Option<OsString>,
    root: &Path,
) -> Vec<PathBuf> {
    let in_folder = |folder: &Path| -> Vec<PathBuf> {
        names.iter().map(|name| folder.join(name)).filter(|file| file.is_file()).collect()
    };
    match named {
        Some(folder) if folder.is_dir() => return in_folder(folder),
        Some(file) => return vec![file.to_owned()],
        None => {}
    }
    let mut folders = Vec::new();
    for prefix in PREFIXES.iter().filter_map(|name| env(name)) {
        BELOW.iter().for_each(|below| folders.extend(matching(Path::new(&prefix), below)));
    }
    for packages in packages(&env, root) {
        OF_PACKAGE.iter().for_each(|below| folders.extend(matching(&packages, below)));
    }
    for prefix in INSTALLED.iter().flat_map(|pattern| matching(root, pattern)) {
        BELOW.iter().for_each(|below| folders.extend(matching(&prefix, below)));
    }
    let mut all: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
    all.extend(folders.iter().flat_map(|folder| in_folder(folder)));
    let mut seen = BTreeSet::new();
    all.retain(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    all
}

/// Folders of Python packages: of `PYTHONPATH`, the active environment, the Python of `PATH`, the user and the system.
fn packages(env: &impl Fn(&str) -> Option<OsString>, root: &Path) -> Vec<PathBuf> {
    let list = |name: &str| -> Vec<PathBuf> {
        env(name).map(|list| std::env::split_paths(&list).collect()).unwrap_or_default()
    };
    let mut prefixes: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| env(name)).map(PathBuf::from).collect();
    let pythons = list("PATH").into_iter().filter(|folder| folder.join("python3").is_file());
    prefixes.extend(pythons.filter_map(|folder| folder.parent().map(Path::to_owned)));
    prefixes.extend(env("HOME").map(|home| Path::new(&home).join(".local")));
    prefixes.extend([root.join("usr/local"), root.join("usr")]);
    let mut found = list("PYTHONPATH");
    found.extend(
        prefixes
            .iter()
            .flat_map(|prefix| PACKAGES.iter().flat_map(move |below| matching(prefix, below)))
            .collect::<Vec<_>>(),
    );
    found
}

/// The folders below `root` that match `pattern`, of which each part may have one star; the newest number first.
fn matching(root: &Path, pattern: &str) -> Vec<PathBuf> {
    pattern.split('/').fold(vec![root.to_owned()], |folders, part| {
        folders.iter().flat_map(|folder| within(folder, part)).collect()
    })
}

fn within(folder: &Path, part: &str) -> Vec<PathBuf> {
    let Some((before, after)) = part.split_once('*') else {
        return Some(folder.join(part)).filter(|folder| folder.is_dir()).into_iter().collect();
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        })
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse((numbers(name), name.clone())));
    names.into_iter().map(|name| folder.join(name)).filter(|folder| folder.is_dir()).collect()
}

/// The numbers within a name: `cuda-12.10` is later than `cuda-12.9`.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|character: char| !character.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// Loads the first library that can be loaded. `beside` are libraries that it needs and that may lie in the same folder,
/// where the dynamic linker would not look for them.
///
/// # Errors
/// When none can: with the words on the library that was found, or with the names that were looked for.
pub(super) fn open(names: &[&str], beside: &[&str], named: Option<&Path>) -> Result<Library, LibraryError> {
    let all = candidates(names, named, |name| std::env::var_os(name), Path::new("/"));
    let mut refused = None;
    for file in &all {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        for needed in folder.into_iter().flat_map(|folder| beside.iter().map(|name| folder.join(name))) {
            // Stays loaded; the dynamic linker then knows it by its name.
            if needed.is_file() {
                let _ = Library::open_at(&needed);
            }
        }
        match Library::open_at(file) {
            Ok(library) => return Ok(library),
            Err(error @ LibraryError::Refused { .. }) => {
                refused.get_or_insert(error);
            }
            Err(LibraryError::NotFound { .. }) => {}
        }
    }
    Err(refused.unwrap_or_else(|| {
        let name = named.map_or_else(|| names.join(", "), |named| named.display().to_string());
        LibraryError::NotFound { name }
    }))
}

/// The file of a library, without links.
pub(super) fn path_of(library: &Library, symbol: &CStr) -> PathBuf {
    let file = library.file_of(symbol).unwrap_or_default();
    file.canonicalize().unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "").expect("written");
    }

    #[test]
    fn the_linker_comes_first_then_what_variables_name_then_wheels_then_toolkits() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        let files = [
            "home/.local/lib/python3.9/site-packages/nvidia/cublas/lib/libcublas.so.12",
            "site/lib64/libcublas.so.12",
            "usr/local/cuda-12.10/targets/x86_64-linux/lib/libcublas.so.12",
            "usr/local/cuda-12.9/targets/sbsa-linux/lib/libcublas.so.12",
            "venv/lib/python3.10/site-packages/nvidia/cu13/lib/libcublas.so.13",
            "venv/lib/python3.10/site-packages/torch/lib/libcublas.so.12",
        ];
        files.iter().for_each(|file| touch(&at(file)));
        touch(&at("venv/bin/python3"));
        let env = |name: &str| match name {
            "CUDA_HOME" => Some(at("site").into_os_string()),
            "PATH" => Some(at("venv/bin").into_os_string()),
            "HOME" => Some(at("home").into_os_string()),
            _ => None,
        };
        let names = ["libcublas.so.13", "libcublas.so.12"];
        let found = candidates(&names, None, env, root.path());
        let wanted = [1, 4, 5, 0, 2, 3].map(|number| at(files[number]));
        assert_eq!(found[..2], names.map(PathBuf::from));
        assert_eq!(found[2..], wanted);
        let of_folder = candidates(&names, Some(&at("site/lib64")), env, root.path());
        assert_eq!(of_folder, [at("site/lib64/libcublas.so.12")]);
        let file = candidates(&names, Some(Path::new("/nowhere/x.so")), env, root.path());
        assert_eq!(file, [PathBuf::from("/nowhere/x.so")]);
    }

    #[test]
    fn a_library_that_nobody_has_is_named_and_a_broken_one_is_told() {
        let missing = open(&["libnobody-has.so.1", "libnobody-has.so.2"], &[], None).expect_err("missing");
        assert_eq!(missing.to_string(), "libnobody-has.so.1, libnobody-has.so.2 not found");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("libtext.so.1"), "no library").expect("written");
        let broken = open(&["libtext.so.1"], &[], Some(folder.path())).expect_err("no library");
        assert!(matches!(broken, LibraryError::Refused { .. }), "{broken}");
    }
}
