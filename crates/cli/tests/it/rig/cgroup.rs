//! A cgroup of the test (version 1).

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::process::{kill, wait_until};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A group below that of the test. Drop kills its processes and removes it.
pub struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    pub fn new(controller: &str, settings: &[(&str, &str)]) -> Result<Self, String> {
        let groups = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let own = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(|name| name == controller).then_some(path)
        });
        let own = own.ok_or_else(|| format!("no control group of version 1 for {controller}"))?;
        let mount = Path::new("/sys/fs/cgroup").join(controller);
        // In a container the path may be of the host, with the container's group at the root of the mount.
        let inside = mount.join(own.trim_start_matches('/'));
        let parent = if inside.is_dir() { inside } else { mount };
        let name = format!("seatrial-test-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = parent.join(name);
        fs::create_dir(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let group = Self { folder };
        for (file, value) in settings {
            fs::write(group.folder.join(file), value).map_err(|error| format!("{file}={value}: {error}"))?;
        }
        Ok(group)
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).expect("a file of the group")
    }

    pub fn enter(&self) -> Vec<String> {
        let line = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.folder.display());
        ["sh", "-c", &line, "sh"].map(str::to_owned).into()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for pid in self.read("cgroup.procs").lines().filter_map(|line| line.parse().ok()) {
            kill(rustix::process::Pid::from_raw(pid).expect("a process id"));
        }
        // A group can be removed once its last process has been reaped.
        wait_until("the control group to be empty", || fs::remove_dir(&self.folder).is_ok());
    }
}
