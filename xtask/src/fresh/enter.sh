# The first process of a bare root, in mount, PID, UTS and IPC namespaces of its own. Gives the root its file systems,
# runs a command line there as a user, and takes in processes that their parents left, as a system's first process does.
#
# enter.sh ROOT TOOLCHAIN USER COMMAND, with what the command gets as environment in ENVIRONMENT, one a line
set -eu
root=$1 toolchain=$2 user=$3 command=$4

# A root can only be entered where something is mounted.
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
# With the hierarchies of control groups, which tests read, and make groups in.
mount --rbind /sys "$root/sys"
# Loop devices come and go there.
mount --bind /dev "$root/dev"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t tmpfs -o mode=0755 run "$root/run"
mkdir -m 1777 "$root/run/lock"
mkdir -p "$root/opt/rust" "$root/outside"
mount --bind "$toolchain" "$root/opt/rust"
mount -o remount,bind,ro "$root/opt/rust"
# Not chroot: in one, nobody may make user namespaces.
cd "$root"
pivot_root . outside
cd /
umount -l /outside
rmdir /outside
hash -r

home=/root
path=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
if [ "$user" != root ]; then
    home=/home/$user
    path=/opt/rust/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games
    id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$user"
    for file in .npmrc .config/pip/pip.conf; do
        [ ! -f "/root/$file" ] || install -D -o "$user" -m 600 "/root/$file" "$home/$file"
    done
fi
chown -R "$user:" "$home" /opt/cargo /opt/seatrial
cd /opt/seatrial

# One variable a line, whatever letters it has.
set -f
IFS='
'
# shellcheck disable=SC2086
set -- $ENVIRONMENT
code=0
setpriv --reuid="$user" --regid="$user" --init-groups \
    env -i HOME="$home" USER="$user" LOGNAME="$user" SHELL=/bin/bash PATH="$path" CARGO_HOME=/opt/cargo "$@" \
    bash -c "$command" || code=$?

# What the command left running: daemons that a package started, for instance. What has ended has no command line any more.
set +f
left=
for process in /proc/[0-9]*; do
    [ "$process" = /proc/1 ] || [ -z "$(tr -d '\0' <"$process/cmdline" 2>/dev/null)" ] ||
        left="$left $(cat "$process/comm" 2>/dev/null || true)"
done
[ -z "$left" ] || echo "left running:$left"
exit "$code"
