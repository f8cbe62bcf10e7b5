//! One page of all settings, from the same definitions that `seatrial list` shows.

use std::fmt::Write;

use seatrial_model::setting::SettingAbout;

use super::File;

const HEAD: &str = "\
<!-- Made by `cargo xtask generate` from the settings' own definitions. -->
# Settings

Settings of the host (sysctl, CPU governor, MTU, interrupts) that change results. `seatrial settings` reads them all and changes nothing;
`seatrial settings PROFILE` holds them against what a profile wants, and so does `seatrial check`. This page states no wanted
values; [profiles](profiles.md) do. `seatrial settings apply` sets what a profile wants, and `seatrial settings restore` takes
it back. `seatrial run --factors` with settings and `seatrial settings try` set them for the time of their measurements. No
other command changes anything.

## Apply and restore

```console
$ seatrial settings apply net.ipv4.tcp_rmem=4KiB,128KiB,64MiB nic.mtu@eth0=1500 -w 'n[1-2]'
Seatrial sets, and restores with `seatrial settings restore`:
  n[1-2] net.ipv4.tcp_rmem: 4 KiB, 128 KiB, 32 MiB -> 4 KiB, 128 KiB, 64 MiB
      writes '4096 131072 67108864' to /proc/sys/net/ipv4/tcp_rmem; needs root
      mind: Lost at the next boot unless a file in /etc/sysctl.d sets it. tuned
        sets its own when it starts.
  n[1-2] nic.mtu of nic:eth0: 9000 -> 1500
      writes '1500' to /sys/class/net/eth0/mtu; needs root or CAP_NET_ADMIN
      mind: Some drivers take the link down for a moment. NetworkManager and
        cloud agents set their own value again. Test the whole path afterwards:
        `ping -M do -s 8972 HOST` for 9000. The MTU of a bond or bridge limits
        interfaces on top of it.
set this on n[1-2]? [y/N] y
n[1-2] net.ipv4.tcp_rmem: 4 KiB, 128 KiB, 32 MiB -> 4 KiB, 128 KiB, 64 MiB
n[1-2] nic.mtu of nic:eth0: 9000 -> 1500
restore n[1-2] with `seatrial settings restore 20261128-205047-tjvx -w 'n[1-2]'`
```

`apply PROFILE` sets what the profile wants, as far as it differs. A value is written as in a profile; `nic.mtu=9000` is for
every real interface with a link, `nic.mtu@eth0=9000` for one of them. The plan says for each value what it is, what it will
be, which file is written, which privilege that takes, and what it disturbs. It is confirmed once, or by `--yes`; where
nobody can be asked (no terminal, no `--yes`) nothing is changed. `--dry-run` prints the plan and ends. What takes a reboot or
has no file to write is shown with its command, and never tried: the column *apply* below says which. What the nodes do not
have is told and left, as on four nodes whose cards are virtual:

```console
$ seatrial settings apply dragnet --role 'dragnet=n[1-4]' -w 'n[1-4]'
cannot be judged, and is left:
  n[1-4] nic.mtu: nothing here has kind=nic,link_layer=ethernet,speed=10
    Gbit/s,up=true,virtual=false
  n[1-4] cpu.governor: this setting does not exist here:
    /sys/devices/system/cpu/cpufreq holds no policy; in a virtual machine the
    host controls the frequency
  n[1-4] nic.ipoib_mode: nothing here has
    kind=nic,link_layer=infiniband,up=true; link_layer and up of nic not known
no setting has to be changed
```

A bond takes another mode only while it is down and has no members. FEC is the encoding that is in use: after a change
`apply` waits for the link, 5 s at most.

Queueing disciplines, numbers of network drivers and values of GPUs have no file: Seatrial makes the call that the command
makes, and treats them as files in all that follows. Idle states, interrupts and queues have a file for each, whose texts the
node finds out.

Each node writes the former value of a file to a journal, `/var/lib/seatrial/settings/HOST/ID.jsonl`, and syncs it before it
writes the file. Then it reads the value back: what was refused, and what the kernel holds instead of what it was given, is
printed with its cause. Such a value stays and is in the journal too.

```console
$ seatrial settings restore -w 'n[1-2]'
n[1-2] nic.mtu of /sys/class/net/eth0/mtu: 1500 -> 9000
n[1-2] net.ipv4.tcp_rmem of /proc/sys/net/ipv4/tcp_rmem: 4096 131072 67108864 -> 4096 131072 33554432
20261128-205047-tjvx: 4 restored, 0 unchanged, 0 left, 0 failed
```

`restore` takes back the newest `apply`, `restore ID` one of them, `restore all` all, each in reverse order, whatever ended the
`apply`: an error, a kill or a loss of power. What was refused is tried again after the others, since one setting may hold
another. A value that is not the one that `apply` left has been changed by somebody else since: it is named, left, and
restored with `--force` only. The journal is removed when nothing is left of it, so a second `restore` has nothing to do.
A node that is not reached is named with the `restore` to type when it is back (exit code 3). After a boot most values are the former ones already, and `restore` only removes the journal. If the process ended between writing a file and reading it back, the journal cannot know what the kernel made of the value, and
the former one is restored in any case. A driver that changes a second setting on its own account (intel_pstate sets the
energy preference with the governor) is not in the journal; all values are read back after the last one was written, so a
value that a later change took back is told.

`--for 2h` lets each node restore by itself after that time: by a transient timer of systemd where it runs, else by a process
that waits; which of them is printed. Neither survives a boot, nor do most values. If another `settings` changes the node at that
moment, it is tried again. After a `restore` by hand the timer stays until it is due, and does nothing. Under Slurm without
systemd `--for` is refused, since Slurm ends every process of its step.

`--persist` has the values set again at every boot: `apply` writes them to `95-seatrial-ID.conf` in `/etc/sysctl.d` (what is below
`/proc/sys`), to `95-seatrial-ID.rules` in `/etc/udev/rules.d` (network interfaces and disks), and to `00-seatrial-NUMBER.conf` in
`/etc/tmpfiles.d` (the rest of `/sys`), where the first name counts: NUMBER is ID with 9 minus each digit. If two `apply`
set the same value, the newer counts. The first line of each file names the `restore` that removes the file. Only values that
the kernel accepted at once are written there. A file with a later
name in `/etc/sysctl.d` overrides the value, as `99-sysctl.conf` does, which is `/etc/sysctl.conf` on Debian and RHEL.
Where the folder does not exist, as in most containers, nothing would read the file: that is printed, and the exit code is 1.
Interrupts, whose numbers change from boot to boot, and values of GPUs cannot be kept that way either: their column *at boot* is empty.
tuned, NetworkManager and cloud agents may set other values later.

| exit code | `apply` | `restore` |
|---|---|---|
| 0 | everything is as wanted | everything is as before, or there was nothing to restore |
| 1 | something is not: it did not take, or only a command sets it; `--dry-run` would change something | something was left, or could not be restored |
| 2 | usage, or nobody could be asked; nothing was changed | usage |
| 3 | a node was not reached, did not answer, or could not use its journal | the same |

## What a setting is worth

```console
$ seatrial run net.tcp_stream --factors nic.mtu@eth0=9000,nic.txqueuelen@eth0=2000 --repeats 4 --yes --details -p time=400ms -p trials=1 -p max_trials=1 -p congestion=cubic -w 'n[1-2]'
Seatrial sets, and restores with `seatrial settings restore`:
  n[1-2] nic.mtu of nic:eth0: 1200 -> 9000
      writes '9000' to /sys/class/net/eth0/mtu; needs root or CAP_NET_ADMIN
      mind: Some drivers take the link down for a moment. NetworkManager and
        cloud agents set their own value again. Test the whole path afterwards:
        `ping -M do -s 8972 HOST` for 9000. The MTU of a bond or bridge limits
        interfaces on top of it.
  n[1-2] nic.txqueuelen of nic:eth0: 1000 -> 2000
      writes '2000' to /sys/class/net/eth0/tx_queue_len; needs root or
        CAP_NET_ADMIN
      mind: Lost when the interface is created again, and at the next boot.
n[1-2] run on one kernel (same boot id): Seatrial measures them one after the other; --share-hosts measures them at the same time
32 cases, about 50 s
...
net.tcp_stream · n1->n2 of n1+n2 · throughput · gain of each setting
 · in Gbit/s
 setting                   without   with   gain            95 %  effect
───────────────────────────────────────────────────────────────────────────────
 nic.mtu@eth0=9000           0.189  0.199  1.049  1.048 to 1.050  pays
 instead of 1200
 nic.txqueuelen@eth0=2000    0.189  0.189  0.999  0.992 to 1.006  no difference
 instead of 1000
 gain is the ratio with the setting over without it, within each of 4 blocks of
 four measurements in random order (seed 1)

net.tcp_stream · n1->n2 of n1+n2 · side effects of settings
 setting                           without  with   gain             95 %  effect
────────────────────────────────────────────────────────────────────────────────
 nic.mtu@eth0=9000: receiver_cpu     11.73  1.33  9.372  6.859 to 12.805  pays
 in %
 gain is above 1 where the metric is better with the setting; of a metric that
 is neither better nor worse, with the setting over without it
```

(2026-11-28, two network namespaces of one virtual machine of 2 CPUs that others used too; a shaper of 200 Mbit/s and an MTU of
1200 on their link.) A shaper counts the headers of Ethernet (14 B), IP, TCP and its time stamps (52 B together): the gain of the
MTU must be (8948 / 9014) / (1148 / 1214) = 1.050. The queue of the interface is not used where a shaper has its own.

`run BENCH --factors NAME=VALUE,...` measures the benchmarks with and without each of the settings, one setting at a time, and
`settings try PROFILE --with BENCH...` does so with the settings of a profile that the nodes do not have yet. The plan is shown
and confirmed as that of `apply`, or by `--yes`; `--plan` only prints it. Several benchmarks share the changes. Parameters of
them go to `-p`; `-w` and `--pattern` choose nodes and pairs, and a setting is set on both ends.

A block is four measurements: two with the setting (B) and two without it (A), in the order ABBA or BAAB, drawn by lot from
`--seed` (1). A drift that is even over a block, such as a machine that heats up, cancels in the ratio of the two. The gain is
the geometric mean of that ratio over the blocks of a setting (`--repeats`, 6), with its 95 % interval by Student's t on
logarithms. The columns *without* and *with* are medians over all blocks, so their quotient may differ from the gain, which is
computed within each block. The gain is above 1 where the setting is good for the metric. `pays` and `hurts` stand where the gain differs from 1 at a
false discovery rate of 2 % over all settings of the run (Benjamini and Hochberg, 1995). In simulations with a noise of 1 to 2 % of
a measurement, six blocks find a gain of 5 % in at least 95 of 100 studies; of 100 settings without an effect at most 5 are told as `pays` or `hurts`.
Other metrics of the benchmark on which there is an effect, such as CPU time per byte, are the side effects. All of this is in
the report, and in `-o json` as findings `setting-gain`; each record holds the values before and during its blocks.

A setting is set right before the measurements that need it and taken back right after them, by the journal of `apply` with
the id of the run. After a kill or a loss of power `seatrial settings restore ID` takes back what was set, and so does
`run --resume`, before it measures the rest. Where a setting does not take (rights, containers), the reason is printed and no
gain is told. A value that cannot be taken back ends the measurements on that node; the run ends with exit code 3 and the command
that restores it. `run --factors` and `settings try` on two nodes or more refuse an MTU below the present one while
`net.ipv4.tcp_mtu_probing` is 0 on the machine where the command is typed: the TCP connections to the agents keep the segment
size of the larger MTU, and large segments to the nodes would be lost. With `tcp_mtu_probing=1` each connection stops once, for
some seconds. `settings apply` does not check this.

`--write FILE` of `try` writes a profile of the settings that pay for one of the benchmarks at least and hurt none, with the gain
of each; `seatrial settings apply FILE` sets them.

What the settings of the profile transfer-study bought on a link of the lab (two network namespaces of one virtual machine of 2
CPUs, MTU 9000, round trip 28 us under load, nothing else running, 2026-11-28), by
`seatrial settings try transfer-study --with net.tcp_stream -p time=500ms -w 'n[1-2]'`:

| setting | instead of | without | with | gain, 95 % | effect |
|---|---|---|---|---|---|
| `net.ipv4.tcp_rmem` up to 2 GiB | 32 MiB | 31.9 Gbit/s | 32.6 Gbit/s | 1.131, 0.938 to 1.364 | no difference |
| `net.ipv4.tcp_wmem` up to 2 GiB | 4 MiB | 32.4 Gbit/s | 32.4 Gbit/s | 0.986, 0.950 to 1.023 | no difference |
| `nic.mtu` 9000 (2026-11-29, `run net.tcp_stream --factors nic.mtu@eth0=9000`) | 1500 | 27.0 Gbit/s | 26.4 Gbit/s | 0.985, 0.802 to 1.210 | no difference |
| `cpu.governor`, `net.core.default_qdisc`, `nic.irq_local` | | | | | do not exist there |

A window of 4 MiB carries 1.2 Tbit/s over that round trip (window divided by round trip), so larger buffers have nothing to give.
A link of the lab passes segments of up to 64 KiB whole, so that the MTU changes little; over a shaper, which counts headers, it
gains the 1.049 above.
The study had them for paths of tens of milliseconds.

## All settings

The column *at boot* names the folder in which `apply --persist` writes a value. `VALUE` and `NAME` stand for what is to be put in. A value is written into a profile as the column *values* says, whatever
the system calls it: sizes and times with their unit, flags as true and false.

| setting | what it is, and why it matters | values | read in | by hand | `apply` | at boot | takes | mind |
|---|---|---|---|---|---|---|---|---|
";

/// The page of all settings.
pub fn page(abouts: &[&SettingAbout]) -> File {
    let mut text = HEAD.to_owned();
    for about in abouts {
        let what = format!("**{}.** {}", capital(about.title), about.doc);
        let ways: Vec<String> =
            about.commands().map(|(command, spelling)| way(&command, &spelling)).collect();
        let ways = match (ways.as_slice(), about.remedy) {
            ([], "") => "not while the system runs".to_owned(),
            ([], remedy) => remedy.to_owned(),
            (ways, _) => ways.join("; "),
        };
        let id = format!("`{}`", about.id);
        let path = about.apply.iter().map(|apply| about.path(apply)).find(|path| !path.is_empty());
        let cells = [
            id.as_str(),
            &what,
            &about.describe(),
            about.source,
            &ways,
            if path.is_some() { "yes" } else { "no" },
            path.and_then(seatrial_settings::boot_folder).unwrap_or_default(),
            about.privilege.words(),
            about.traps,
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        writeln!(text, "| {} |", cells.join(" | ")).expect("a String takes all");
    }
    File::new("docs/settings.md", &text)
}

fn way(command: &str, spelling: &str) -> String {
    if spelling.is_empty() { format!("`{command}`") } else { format!("`{command}` ({spelling})") }
}

/// The text as the start of a sentence.
fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_a_row_with_all_its_cells() {
        let abouts: Vec<_> = seatrial_settings::registry().abouts().collect();
        let text = page(&abouts).text;
        for about in &abouts {
            let start = format!("| `{}` | **", about.id);
            let row = text.lines().find(|line| line.starts_with(&start)).expect("a row");
            let cells = row.replace("\\|", "").matches('|').count();
            assert_eq!(cells, 10, "{row}");
            assert!(row.contains(about.traps) && row.contains(about.doc), "{row}");
        }
        assert!(text.contains(
            "`echo VALUE > /sys/devices/system/cpu/intel_pstate/no_turbo` (0 for true, 1 for false)"
        ));
    }
}
