//! Symbolic links of the kernel's trees, resolved without leaving the root.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;

use super::{ReadError, SysRoot};

/// Linux's limit for one path (path_resolution(7)).
const MOST_LINKS: u32 = 40;

impl SysRoot {
    /// Resolves all symbolic links of an absolute path, as named on the live system.
    ///
    /// Absolute targets start at the root and `..` stops there, as in chroot(2): a test tree cannot show files of its
    /// host.
    pub fn resolve(&self, path: impl AsRef<Path>) -> Result<String, ReadError> {
        let asked = path.as_ref();
        let mut found = PathBuf::from("/");
        let mut ahead = steps(asked);
        let mut links = 0;
        while let Some(step) = ahead.pop() {
            if step == ".." {
                found.pop();
                continue;
            }
            let next = found.join(&step);
            let Some(target) = self.target(&next).map_err(|error| ReadError::io(asked, &error))? else {
                found = next;
                continue;
            };
            links += 1;
            if links > MOST_LINKS {
                let path = asked.display().to_string();
                return Err(ReadError::Unreadable { path, errno: Errno::LOOP });
            }
            if target.is_absolute() {
                found = PathBuf::from("/");
            }
            ahead.extend(steps(&target));
        }
        found
            .into_os_string()
            .into_string()
            .map_err(|name| ReadError::garbage(asked, &name.to_string_lossy(), "a link to a path in UTF-8"))
    }

    /// The last component of a symbolic link's target, which names drivers, buses and masters. The target need not
    /// exist.
    pub fn link_name(&self, path: impl AsRef<Path>) -> Result<String, ReadError> {
        let asked = path.as_ref();
        let target = match &self.tree {
            Some(_) => {
                // Resolve the directory, but not the link itself.
                let folder = self.resolve(asked.parent().unwrap_or(asked))?;
                let at = Path::new(&folder).join(asked.file_name().unwrap_or_default());
                self.target(&at).and_then(|target| target.ok_or_else(|| Errno::INVAL.into()))
            }
            None => fs::read_link(self.locate(asked)),
        };
        let target = target.map_err(|error| ReadError::io(asked, &error))?;
        let name = target.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        name.ok_or_else(|| ReadError::garbage(asked, &target.to_string_lossy(), "a link to a name in UTF-8"))
    }
}

fn steps(path: &Path) -> Vec<OsString> {
    let steps = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut steps: Vec<_> = steps.collect();
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn tree() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for folder in
            ["sys/devices/pci0000:00/0000:00:03.0/net/eth0", "sys/class/net", "sys/bus/drivers/e1000"]
        {
            fs::create_dir_all(dir.path().join(folder)).expect("made");
        }
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    fn link(dir: &tempfile::TempDir, target: &str, at: &str) {
        symlink(target, dir.path().join(at)).expect("linked");
    }

    #[test]
    fn follows_links_as_the_kernel_would() {
        let (dir, root) = tree();
        link(&dir, "../../devices/pci0000:00/0000:00:03.0/net/eth0", "sys/class/net/eth0");
        link(&dir, "../..", "sys/devices/pci0000:00/0000:00:03.0/net/eth0/device");
        link(&dir, "../../../bus/drivers/e1000", "sys/devices/pci0000:00/0000:00:03.0/driver");
        let device = root.resolve("/sys/class/net/eth0/device");
        assert_eq!(device.as_deref(), Ok("/sys/devices/pci0000:00/0000:00:03.0"));
        let driver = root.link_name("/sys/devices/pci0000:00/0000:00:03.0/driver");
        assert_eq!(driver.as_deref(), Ok("e1000"));
    }

    #[test]
    fn never_leaves_the_root() {
        let (dir, root) = tree();
        link(&dir, "../../../../../../../../../../../etc", "sys/class/net/up");
        link(&dir, "/sys/devices", "sys/class/net/absolute");
        assert!(root.resolve("/sys/class/net/up").unwrap_err().is_missing(), "there is no /etc in the tree");
        assert_eq!(root.resolve("/sys/class/net/absolute").as_deref(), Ok("/sys/devices"));
        assert_eq!(root.resolve("/../../sys").as_deref(), Ok("/sys"));
    }

    #[test]
    fn tells_dangling_links_from_circles() {
        let (dir, root) = tree();
        link(&dir, "nowhere", "sys/class/net/dangling");
        link(&dir, "b", "sys/class/net/a");
        link(&dir, "a", "sys/class/net/b");
        assert!(root.resolve("/sys/class/net/dangling").unwrap_err().is_missing());
        let circle = root.resolve("/sys/class/net/a").unwrap_err();
        assert!(matches!(circle, ReadError::Unreadable { errno: Errno::LOOP, .. }), "{circle}");
        assert_eq!(root.link_name("/sys/class/net/a").as_deref(), Ok("b"));
        assert!(root.link_name("/sys/class").is_err(), "a folder is not a link");
    }

    #[test]
    fn knows_the_live_root() {
        assert_eq!(SysRoot::live().resolve("/proc/./..").as_deref(), Ok("/"));
    }
}
