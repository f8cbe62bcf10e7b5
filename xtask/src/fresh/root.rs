//! The bare root: Debian's required packages, a C compiler, certificates, and a clone of the commit.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// `cc`, and what fetching crates over TLS takes: the toolchain brings no certificates.
const PACKAGES: &str = "gcc,libc6-dev,ca-certificates";

/// How this machine reaches registries, where it has such a file; the root gets it under the same name.
const SETTINGS: &[&str] =
    &["/etc/hosts", "/etc/resolv.conf", "/etc/pip.conf", "/etc/npmrc", "/usr/etc/npmrc"];

/// The same, of the person; below the home of root in the root.
const OWN_SETTINGS: &[&str] = &[".npmrc", ".config/pip/pip.conf"];

/// A bare root; removed when dropped, unless it is to be kept.
pub struct Root {
    folder: PathBuf,
    toolchain: PathBuf,
    is_kept: bool,
}

impl Root {
    /// Makes it in `folder`, instead of what lies there.
    ///
    /// # Errors
    /// When Debian's archive, the toolchain or the commit cannot be had.
    pub fn make(folder: &Path, is_kept: bool) -> Result<Self> {
        let toolchain = PathBuf::from(output(
            Command::new("rustc").args(["--print", "sysroot"]).current_dir(workspace::root()),
        )?);
        remove(folder)?;
        let root = Self { folder: folder.to_owned(), toolchain, is_kept };
        root.debian()?;
        root.settings()?;
        root.clone_commit()?;
        Ok(root)
    }

    /// Of the release that this machine has, from the archives that it uses, in the way that it reaches them.
    fn debian(&self) -> Result<()> {
        let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
        let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
        let codename = codename.context("/etc/os-release names no release of Debian")?.trim_matches('"');
        let reach = output(Command::new("apt-config").arg("dump"))?;
        let mut options = tempfile::NamedTempFile::new()?;
        for line in reach.lines().filter(|line| line.starts_with("Acquire::")) {
            writeln!(options, "{line}")?;
        }
        let mut make = Command::new("mmdebstrap");
        make.args(["--quiet", "--variant=minbase", "--mode=root"]).arg(format!("--include={PACKAGES}"));
        make.arg("--aptopt")
            .arg(options.path())
            .arg(codename)
            .arg(&self.folder)
            .args(sources(Path::new("/etc/apt"))?);
        workspace::run(&mut make)
    }

    /// What this machine needs to reach registries.
    fn settings(&self) -> Result<()> {
        for path in SETTINGS.iter().map(PathBuf::from) {
            self.copy(&path, path.strip_prefix("/").unwrap_or(&path))?;
        }
        let home = PathBuf::from(std::env::var_os("HOME").context("there is no HOME")?);
        for path in OWN_SETTINGS {
            self.copy(&home.join(path), &Path::new("root").join(path))?;
        }
        let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
        self.copy(&cargo.join("config.toml"), Path::new("opt/cargo/config.toml"))?;
        fs::create_dir_all(self.folder.join("opt/cargo"))?;
        let trusted = Path::new("usr/local/share/ca-certificates");
        for entry in fs::read_dir(Path::new("/").join(trusted)).into_iter().flatten() {
            let path = entry?.path();
            self.copy(&path, path.strip_prefix("/").unwrap_or(&path))?;
        }
        workspace::run(Command::new("chroot").arg(&self.folder).arg("update-ca-certificates"))
    }

    /// Copies a file, where there is one, to a place below the root.
    fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        if !from.is_file() {
            return Ok(());
        }
        let to = self.folder.join(to);
        fs::create_dir_all(to.parent().unwrap_or(&to))?;
        fs::copy(from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        Ok(())
    }

    /// What a person clones. The root gets no git, and needs none.
    fn clone_commit(&self) -> Result<()> {
        let changed =
            output(Command::new("git").args(GIT).args(["status", "--short"]).current_dir(workspace::root()))?;
        if !changed.is_empty() {
            eprintln!("what is not committed does not come along:\n{changed}");
        }
        let mut clone = Command::new("git");
        clone.args(GIT).args(["clone", "--quiet", "--no-hardlinks"]).arg(workspace::root());
        workspace::run(clone.arg(self.folder.join("opt/seatrial")))
    }

    /// The text of a file of the clone.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, path: &str) -> Result<String> {
        let path = self.folder.join("opt/seatrial").join(path);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// `line` in the root, as `user`. Its mounts and processes end with the command that this gives.
    pub fn command(&self, user: &str, line: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args([
            "--pdeathsig=KILL",
            "unshare",
            "--mount",
            "--propagation=private",
            "--uts",
            "--ipc",
            "--pid",
        ]);
        command.args(["--fork", "--kill-child", "sh", "-c", include_str!("enter.sh"), "enter.sh"]);
        command.arg(&self.folder).arg(&self.toolchain).args([user, line]);
        command.env("ENVIRONMENT", passed(std::env::vars())).current_dir("/");
        command
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        if self.is_kept {
            eprintln!("kept: {}", self.folder.display());
        } else if let Err(error) = remove(&self.folder) {
            eprintln!("{error:#}");
        }
    }
}

/// As root in the checkout of another person.
const GIT: &[&str] = &["-c", "safe.directory=*"];

/// Never what is mounted in it, should that ever be.
fn remove(folder: &Path) -> Result<()> {
    workspace::run(Command::new("rm").args(["-rf", "--one-file-system"]).arg(folder))
}

fn output(command: &mut Command) -> Result<String> {
    let shown = workspace::show(command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{shown}` ended with {}: {complaint}", output.status);
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The files below `apt` that name archives.
fn sources(apt: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(apt.join("sources.list.d")).into_iter().flatten();
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    files.retain(|path| {
        path.extension().is_some_and(|extension| extension == "list" || extension == "sources")
    });
    files.push(apt.join("sources.list"));
    files.retain(|path| path.is_file());
    files.sort();
    ensure!(!files.is_empty(), "no file below {} names an archive of Debian", apt.display());
    Ok(files)
}

/// Of our environment what says how registries are reached, one variable a line.
fn passed(all: impl Iterator<Item = (String, String)>) -> String {
    let lines = all.filter(|(name, value)| {
        let name = name.to_lowercase();
        let starts = [
            "pip_",
            "npm_config_",
            "cargo_http_",
            "cargo_net_",
            "cargo_registr",
            "cargo_source_",
            "ssl_cert_",
        ];
        let is_of_registry = name.ends_with("_proxy")
            || name == "term"
            || name == "node_extra_ca_certs"
            || starts.iter().any(|start| name.starts_with(start));
        is_of_registry && !value.contains('\n')
    });
    lines.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_environment_only_the_way_to_registries_is_passed_on() {
        let pairs = [
            ("https_proxy", "http://proxy:3128"),
            ("NO_PROXY", "localhost"),
            ("PIP_INDEX_URL", "https://index/simple"),
            ("CARGO_NET_OFFLINE", "false"),
            ("CARGO_TARGET_DIR", "/elsewhere"),
            ("CI", "true"),
            ("RUSTFLAGS", "-C target-cpu=native"),
            ("HOME", "/home/somebody"),
            ("PIP_CERT", "two\nlines"),
        ];
        let text = passed(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
        assert_eq!(names, ["https_proxy", "NO_PROXY", "PIP_INDEX_URL", "CARGO_NET_OFFLINE"]);
    }

    #[test]
    fn every_file_that_names_archives_is_used_and_no_other() {
        let apt = tempfile::tempdir().unwrap();
        assert!(sources(apt.path()).is_err());
        fs::create_dir(apt.path().join("sources.list.d")).unwrap();
        for name in
            ["sources.list", "sources.list.d/a.sources", "sources.list.d/b.list", "sources.list.d/c.disabled"]
        {
            fs::write(apt.path().join(name), "").unwrap();
        }
        let names = sources(apt.path()).unwrap();
        let names: Vec<_> = names.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["sources.list", "a.sources", "b.list"]);
    }
}
