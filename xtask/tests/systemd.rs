//! Settings for a time under a real systemd, in a container with a network of its own: its timer restores them, whoever ended
//! Seatrial meanwhile. Needs root and systemd-nspawn; without them it is skipped, in continuous integration it fails.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

use std::path::Path;
use std::process::Command;

use xtask::packages;
use xtask::workspace::is_ci;

/// Each line of standard output is a fact; standard error says more. The first argument is the folder of the program.
const SCRIPT: &str = r#"
systemd-nspawn --quiet --directory=/ --machine=seatrial-test --volatile=yes --private-network --register=no --keep-unit \
    --bind-ro="$1":/mnt --boot --console=pipe < /dev/null >&2 &
container=$!
trap 'kill $container; wait $container' EXIT
inside() {
    first=$(tr -d " " < /proc/$container/task/$container/children)
    nsenter -t $first -m -p -n -u -i env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
tries=0
until [ "$(inside systemctl show -P ActiveState sysinit.target 2> /dev/null)" = active ]; do
    [ $tries -lt 600 ] || exit 9
    tries=$((tries + 1))
    sleep 0.2
done

apply() { inside /mnt/seatrial settings apply net.ipv4.tcp_rmem=$1 --yes --for $2 >&2; }
value() { echo "$1: $(inside sysctl -n net.ipv4.tcp_rmem | tr '\t' ' ')"; }
left() { echo "$1: $(inside find /var/lib/seatrial -type f | wc -l)"; }
timers() { echo "$1: $(inside systemctl list-timers --all --no-legend 'seatrial-restore-*' | wc -l)"; }
# Until no timer waits and nothing of it runs, for two minutes at most.
over() {
    tries=0
    while [ $tries -lt 240 ] && [ "$(inside systemctl list-units --plain --no-legend 'seatrial-restore-*')" ]; do
        sleep 0.5
        tries=$((tries + 1))
    done
}
inside sysctl -q -w net.ipv4.tcp_rmem='4096 131072 33554432'

apply 4KiB,64KiB,16MiB 5s
value applied
timers timers
inside systemctl list-timers --all 'seatrial-restore-*' >&2
over
value restored
left left

apply 4KiB,80KiB,16MiB 10s &
until ls /proc/$first/root/var/lib/seatrial/settings/*/*.jsonl > /dev/null 2>&1; do sleep 0.02; done
inside pkill -KILL seatrial
wait $!
timers 'timers after a kill'
over
value 'restored after a kill'
left 'left after a kill'

apply 4KiB,96KiB,16MiB 10s
inside /mnt/seatrial settings restore >&2
value 'restored by hand'
inside sysctl -q -w net.ipv4.tcp_rmem='4096 70000 20000000'
over
value 'after the timer'
echo "failed: $(inside systemctl list-units --failed --plain --no-legend 'seatrial-*' | wc -l)"
left 'left at the end'
"#;

#[test]
fn a_timer_of_systemd_restores_also_after_a_kill_and_does_nothing_after_a_restore_by_hand() {
    let missing = packages::missing_now(&[packages::SYSTEMD, packages::UTIL_LINUX, packages::PROCPS]);
    if (!packages::is_root() || !missing.is_empty()) && !is_ci() {
        println!("skipped: needs root, systemd-nspawn, nsenter and pkill");
        return;
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_xtask")).parent().unwrap();
    let output = Command::new("sh").args(["-c", SCRIPT, "sh"]).arg(folder).output().unwrap();
    let (told, more) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let expected = [
        "applied: 4096 65536 16777216",
        "timers: 1",
        "restored: 4096 131072 33554432",
        "left: 0",
        "timers after a kill: 1",
        "restored after a kill: 4096 131072 33554432",
        "left after a kill: 0",
        "restored by hand: 4096 131072 33554432",
        "after the timer: 4096 70000 20000000",
        "failed: 0",
        "left at the end: 0",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), expected, "{}: {more}", output.status);
}
