//! A Rust compiler for 64-bit Arm where rustup has no other targets: the later one with which Debian builds browsers.
//!
//! It is unpacked below `target`, by package lists of our own: the system's packages and lists stay as they are.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{packages, workspace};

/// The package of the compiler; its standard library and LLVM come along.
const PACKAGE: &str = "rustc-web";

/// The standard library of what it compiles.
const LIBRARY: &str = "libstd-rust-web-dev:arm64";

/// What it compiles for, in the way that cargo spells it.
const TARGET: &str = "aarch64-unknown-linux-gnu";

const LINKER: &str = "aarch64-linux-gnu-gcc";

/// Where the compiler's own libraries lie.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

pub struct Compiler {
    root: PathBuf,
}

impl Compiler {
    /// That of an earlier call, or else out of Debian's archive; none, and a line that says so, where it or a package
    /// that it needs cannot be had.
    ///
    /// # Errors
    /// In continuous integration, when it cannot be had.
    pub fn find() -> Result<Option<Self>> {
        packages::ensure(packages::EMULATED_ARM)?;
        if let Some(missing) = packages::missing_now(packages::EMULATED_ARM).first() {
            println!("64-bit Arm: skipped: {} is missing", missing.name);
            return Ok(None);
        }
        let root = workspace::root().join("target/emulated/rust");
        if !root.exists()
            && let Err(error) = fetch(&root).with_context(|| format!("cannot fetch {PACKAGE}"))
        {
            if workspace::is_ci() {
                return Err(error);
            }
            println!("{error:#}\n64-bit Arm: skipped: {PACKAGE} is missing");
            return Ok(None);
        }
        Ok(Some(Self { root }))
    }

    /// A script that compiles as `rustc` does, for 64-bit Arm: for tests that make libraries.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn script(&self) -> Result<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let root = self.root.display();
        let text = format!(
            "#!/bin/sh\nexport LD_LIBRARY_PATH='{root}/{LIBRARIES}'\n\
             exec '{root}/usr/bin/rustc' --target {TARGET} -C linker={LINKER} \"$@\"\n"
        );
        let script = self.root.with_file_name("rustc.sh");
        fs::write(&script, text)
            .and_then(|()| fs::set_permissions(&script, fs::Permissions::from_mode(0o755)))
            .with_context(|| format!("cannot write {}", script.display()))?;
        Ok(script)
    }

    /// Cargo with `args`, compiling with it for 64-bit Arm into a folder of its own.
    pub fn cargo(&self, args: &[&str]) -> Command {
        let mut cargo = workspace::cargo(args);
        let ours = self.root.join(LIBRARIES).into_os_string();
        let all = std::env::var_os("LD_LIBRARY_PATH")
            .map_or(ours.clone(), |others| [ours, others].join(OsStr::new(":")));
        cargo.env("LD_LIBRARY_PATH", all);
        cargo.env("RUSTC", self.root.join("usr/bin/rustc"));
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER);
        // Nobody steps through these programs: without debug information they are built sooner.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
        cargo.env("CARGO_TARGET_DIR", workspace::root().join("target/emulated/arm"));
        cargo.args(["--target", TARGET]);
        cargo
    }
}

/// Unpacks the newest compiler of Debian's archive as the folder `root`.
fn fetch(root: &Path) -> Result<()> {
    // Moved to its place when it is complete: a fetch that was broken off begins anew.
    let new = root.with_extension("new");
    let _ = fs::remove_dir_all(&new);
    let (lists, archives) = (new.join("state/lists/partial"), new.join("cache/archives"));
    for folder in [&lists, &archives.join("partial")] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let apt = |args: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.args(["--quiet", "--yes"]).args(args).current_dir(&archives);
        for architecture in ["amd64", "arm64"] {
            apt.args(["-o", &format!("APT::Architectures::={architecture}")]);
        }
        for (name, folder) in [("State", "state"), ("Cache", "cache")] {
            apt.args(["-o", &format!("Dir::{name}={}", new.join(folder).display())]);
        }
        // Installed packages are looked at and never changed.
        apt.args(["-o", "Debug::NoLocking=true", "-o", "Acquire::Languages=none"]);
        workspace::run(&mut apt)
    };
    // An archive besides Debian's may lack one of the architectures.
    if let Err(error) = apt(&["update"]) {
        eprintln!("{error:#}");
    }
    apt(&["install", "--download-only", "--no-install-recommends", PACKAGE])?;
    apt(&["download", LIBRARY])?;
    let unpacked = new.join("root");
    for entry in fs::read_dir(&archives)? {
        let package = entry?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            workspace::run(Command::new("dpkg").arg("-x").args([&package, &unpacked]))?;
        }
    }
    fs::rename(&unpacked, root).with_context(|| format!("cannot rename to {}", root.display()))?;
    fs::remove_dir_all(&new).with_context(|| format!("cannot remove {}", new.display()))
}
