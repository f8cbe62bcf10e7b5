//! The first files of a guest: busybox, the modules that lead to the host's files, and the script that mounts them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Its name in the folder of the kernel.
pub const NAME: &str = "initramfs";

/// The script that the kernel starts.
const EARLY: &str = include_str!("../../../lab/guest/early");

/// What the root file system and the job's output need; the rest is loaded from the host's files.
const MODULES: &[&str] = &["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay"];

/// Makes it for the kernel in `folder`.
pub fn make(folder: &Path, release: &str) -> Result<PathBuf> {
    let root = folder.join("initramfs.d");
    for name in ["bin", "modules", "proc", "sys", "dev", "host", "changes", "root"] {
        fs::create_dir_all(root.join(name))?;
    }
    fs::copy("/bin/busybox", root.join("bin/busybox")).context("cannot copy busybox")?;
    let init = root.join("init");
    fs::write(&init, EARLY)?;
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755))?;
    let mut order: Vec<String> = Vec::new();
    for module in MODULES {
        for path in with_dependencies(folder, release, module)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !order.contains(&name) {
                fs::copy(&path, root.join("modules").join(&name))
                    .with_context(|| format!("cannot copy {}", path.display()))?;
                order.push(name);
            }
        }
    }
    fs::write(root.join("modules/order"), order.join("\n") + "\n")?;
    let place = folder.join(NAME);
    pack(&root, &place)?;
    fs::remove_dir_all(&root)?;
    Ok(place)
}

/// The files of `module` and of all that it needs, in the order of loading.
fn with_dependencies(folder: &Path, release: &str, module: &str) -> Result<Vec<PathBuf>> {
    let mut command = Command::new("modprobe");
    command.arg("-d").arg(folder).args(["-S", release, "--show-depends", module]);
    let output = command.output().context("cannot start modprobe")?;
    ensure!(output.status.success(), "modprobe: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).context("modprobe answers in no text")?;
    Ok(text.lines().filter_map(|line| line.strip_prefix("insmod ")).map(|path| path.trim().into()).collect())
}

/// An archive of what `root` holds, in the form that the kernel reads (initramfs buffer format, "newc").
fn pack(root: &Path, place: &Path) -> Result<()> {
    let mut find = Command::new("find");
    let mut found =
        find.arg(".").current_dir(root).stdout(Stdio::piped()).spawn().context("cannot start find")?;
    let names = found.stdout.take().context("find has no output")?;
    let archive = fs::File::create(place)?;
    let mut cpio = Command::new("cpio");
    let status =
        cpio.args(["-o", "-H", "newc", "--quiet"]).current_dir(root).stdin(names).stdout(archive).status();
    let listed = found.wait()?;
    let status = status.context("cannot start cpio")?;
    ensure!(status.success() && listed.success(), "cpio ended with {status}, find with {listed}");
    Ok(())
}
