//! A Rust toolchain for 64-bit Arm: the person's own where it has that target, else Debian's, unpacked and not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Debian's compiler for building browsers: newer than the one of the release, and of the same version on every
/// architecture.
const RUSTC: &str = "rustc-web";

/// Its standard library; that of another architecture can be unpacked beside it.
const STD: &str = "libstd-rust-web-dev";

/// What cargo needs to build for the target.
#[derive(Debug)]
pub struct Toolchain {
    /// The folder that Debian's compiler is unpacked in; without one, the person's own compiler is used.
    unpacked: Option<PathBuf>,
}

impl Toolchain {
    /// The person's own if it has the target, else Debian's, from where an earlier call has put it or else fetched.
    ///
    /// # Errors
    /// When it cannot be had.
    pub fn find() -> Result<Self> {
        let asked = Command::new("rustc").args(["--print=target-libdir", "--target", TARGET]).output();
        let folder = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if folder.is_ok_and(|folder| !folder.is_empty() && Path::new(&folder).is_dir()) {
            return Ok(Self { unpacked: None });
        }
        let place = store().join("rust");
        if !place.is_dir() {
            fetch(&place).context(
                "no Rust toolchain for 64-bit Arm: `rustup target add` it, or let apt-get reach Debian",
            )?;
        }
        Ok(Self { unpacked: Some(place) })
    }

    /// Cargo with `words` for the target.
    pub fn cargo<const N: usize>(&self, words: [&str; N]) -> Command {
        let mut cargo = workspace::cargo(words);
        cargo.args(["--target", TARGET]).env("CARGO_TARGET_DIR", store().join("build"));
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
        // Nobody looks into these programs with a debugger, and tables of lines take a tenth of the time to build.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_INCREMENTAL", "0");
        if let Some(folder) = &self.unpacked {
            cargo.env("RUSTC", folder.join("usr/bin/rustc"));
            cargo.env("LD_LIBRARY_PATH", folder.join("usr/lib/x86_64-linux-gnu"));
        }
        cargo
    }
}

fn store() -> PathBuf {
    workspace::root().join("target/emulated")
}

/// Fetches Debian's compiler, the libraries that this machine lacks for it, and the standard library for the target.
///
/// apt gets folders and a list of installed packages of its own, so that the machine's learn nothing of a foreign
/// architecture.
fn fetch(place: &Path) -> Result<()> {
    ensure!(cfg!(target_arch = "x86_64"), "Debian's compiler is fetched on x86-64 only");
    let store = store();
    let (apt, fresh) = (store.join("apt"), store.join("new"));
    for folder in [&apt, &fresh] {
        // What somebody left who was killed.
        let _ = fs::remove_dir_all(folder);
    }
    for folder in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(apt.join(folder))?;
    }
    fs::create_dir_all(&fresh)?;
    let installed = fs::read_to_string("/var/lib/dpkg/status").context("no list of installed packages")?;
    fs::write(apt.join("status"), without_rust(&installed))?;
    fs::write(apt.join("conf"), configuration(&apt))?;
    let get = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("APT_CONFIG", apt.join("conf")).arg("--quiet").args(words).current_dir(&fresh);
        workspace::run(command.stdout(std::io::stderr()))
    };
    get(&["update"])?;
    get(&["install", "--yes", "--download-only", "--no-install-recommends", RUSTC])?;
    get(&["download", &format!("{STD}:arm64")])?;
    for folder in [apt.join("cache/archives"), fresh.clone()] {
        for entry in fs::read_dir(folder)? {
            let archive = entry?.path();
            if archive.extension().is_some_and(|end| end == "deb") {
                workspace::run(Command::new("dpkg").arg("-x").arg(&archive).arg(&fresh))?;
                fs::remove_file(&archive)?;
            }
        }
    }
    ensure!(fresh.join("usr/bin/rustc").is_file(), "{RUSTC} holds no rustc");
    fs::rename(&fresh, place).with_context(|| format!("cannot move the compiler to {}", place.display()))
}

/// All that apt writes lies below `folder`; nothing is locked, for nothing is installed.
fn configuration(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "Dir::State \"{folder}/state\";\nDir::State::status \"{folder}/status\";\nDir::Cache \"{folder}/cache\";\n\
         APT::Architectures {{ \"amd64\"; \"arm64\"; }};\nAPT::Sandbox::User \"root\";\nDebug::NoLocking \"true\";\n"
    )
}

/// The list of installed packages without Debian's compiler, which is to be fetched even where it is installed.
fn without_rust(status: &str) -> String {
    let is_other = |entry: &&str| {
        !["Package: rustc-web", "Package: libstd-rust-web"]
            .iter()
            .any(|start| entry.trim_start().starts_with(start))
    };
    status.split("\n\n").filter(is_other).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_counts_as_not_installed_and_all_else_stays() {
        let status = "Package: gcc\nVersion: 12\n\nPackage: rustc-web\nVersion: 1\n\nPackage: libstd-rust-web-1.96\n\
                      Version: 1\n\nPackage: zstd\nVersion: 2\n";
        assert_eq!(without_rust(status), "Package: gcc\nVersion: 12\n\nPackage: zstd\nVersion: 2\n");
    }
}
