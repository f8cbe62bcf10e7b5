//! Debian's kernel, unpacked and not installed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::initramfs;
use crate::workspace;

/// Debian's package that depends on the newest kernel.
const NEWEST: &str = "linux-image-amd64";

/// A kernel that guests can boot.
#[derive(Debug)]
pub struct Kernel {
    pub image: PathBuf,
    /// What brings up the root file system.
    pub initramfs: PathBuf,
    /// The folder that holds `lib/modules`.
    pub folder: PathBuf,
}

/// The newest kernel that Debian's lists name, from where an earlier call has put it, or else fetched and unpacked.
///
/// # Errors
/// When it cannot be had.
pub fn get() -> Result<Kernel> {
    let store = workspace::root().join("target/guest");
    fs::create_dir_all(&store).with_context(|| format!("cannot make {}", store.display()))?;
    if let Some(kernel) = present(&store)? {
        return Ok(kernel);
    }
    // Of several callers at once one fetches, and the others find what it has put there.
    let lock = store.join("lock");
    let file = File::create(&lock).with_context(|| format!("cannot make {}", lock.display()))?;
    file.lock().with_context(|| format!("cannot lock {}", lock.display()))?;
    if let Some(kernel) = present(&store)? {
        return Ok(kernel);
    }
    let package = newest()?;
    let (fresh, place) = (store.join("new"), store.join(&package));
    // What somebody left who was killed.
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir(&fresh).with_context(|| format!("cannot make {}", fresh.display()))?;
    unpack(&package, &fresh)?;
    fs::rename(&fresh, &place).with_context(|| format!("cannot move the kernel to {}", place.display()))?;
    present(&store)?.with_context(|| format!("{package} is not in {}", store.display()))
}

/// The newest of those that are unpacked.
fn present(store: &Path) -> Result<Option<Kernel>> {
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(store)? {
        let path = entry?.path();
        let is_kernel =
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"linux-image-"));
        if is_kernel {
            names.push(path);
        }
    }
    names.sort();
    let Some(folder) = names.pop() else { return Ok(None) };
    let release = release(&folder)?;
    let image = folder.join("boot").join(format!("vmlinuz-{release}"));
    Ok(Some(Kernel { image, initramfs: folder.join(initramfs::NAME), folder }))
}

/// The kernel's own name for its version.
fn release(folder: &Path) -> Result<String> {
    let modules = folder.join("lib/modules");
    let mut entries = fs::read_dir(&modules).with_context(|| format!("cannot read {}", modules.display()))?;
    let entry = entries.next().with_context(|| format!("{} is empty", modules.display()))??;
    Ok(entry.file_name().to_string_lossy().into_owned())
}

/// The name of the package of the newest kernel.
fn newest() -> Result<String> {
    let ask = || -> Result<Option<String>> {
        let output = Command::new("apt-cache").args(["depends", NEWEST]).output();
        let output = output.context("cannot start apt-cache: guests boot Debian's kernel")?;
        Ok(dependency(&String::from_utf8_lossy(&output.stdout)))
    };
    if let Some(package) = ask()? {
        return Ok(package);
    }
    run(Command::new("apt-get").args(["--quiet", "update"]))?;
    ask()?.with_context(|| format!("apt-cache knows no {NEWEST}"))
}

/// What `apt-cache depends` says the package depends on.
fn dependency(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.trim().strip_prefix("Depends: ")).map(str::to_owned)
}

fn unpack(package: &str, folder: &Path) -> Result<()> {
    // As our own user: apt's is not allowed into our folder, and says so on every call otherwise.
    let download = ["--quiet", "-o", "APT::Sandbox::User=root", "download", package];
    run(Command::new("apt-get").args(download).current_dir(folder))?;
    let archive = fs::read_dir(folder)?.next().context("apt-get download left nothing")??.path();
    run(Command::new("dpkg").arg("-x").arg(&archive).arg(folder))?;
    fs::remove_file(&archive)?;
    let release = release(folder)?;
    run(Command::new("depmod").arg("-b").arg(folder).arg(&release))?;
    let made = initramfs::make(folder, &release)?;
    ensure!(made.is_file(), "{} was not made", made.display());
    Ok(())
}

/// As [`workspace::run`]; standard output is the job's.
fn run(command: &mut Command) -> Result<()> {
    workspace::run(command.stdout(std::io::stderr()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_is_what_the_package_without_a_version_depends_on() {
        let text = "linux-image-amd64\n  Depends: linux-image-6.1.0-56-amd64\n";
        assert_eq!(dependency(text).as_deref(), Some("linux-image-6.1.0-56-amd64"));
        assert_eq!(dependency("N: Unable to locate package\n"), None);
    }
}
