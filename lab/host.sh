#!/bin/sh
# Makes the file systems of one host of the lab, the head or a node, and then stays as the process that holds its
# namespaces. `cargo xtask lab up` starts it inside new namespaces: mount, network, host name and IPC, and for a node
# also PID (of which it is the first process) and time.
#
# It says its PID, waits until that is written down, prepares, says "ready", and stays. So whoever starts it either
# knows it or it does nothing: when its standard input ends before "go" comes, it leaves.
set -eu
umask 022
lab=$1 name=$2 kind=$3
own=$lab/$name
root=$own/root

# The /proc of whoever started us is still mounted, so this is our PID as seen from there.
read -r pid rest < /proc/self/stat
echo "$pid"
read -r word
[ "$word" = go ]

hostname "$name"

# A root folder of our own that binds what the machine has. So the nodes share /usr, /home and the like, as nodes with
# one system image do, but /scratch, /tmp and /run can be a node's own, and no mount point is made on the machine.
mkdir -p "$root"
mount -t tmpfs -o size=64m,mode=755 lab "$root"
# Otherwise the binds below would bind this very folder into itself.
mount --make-unbindable "$root"
for path in /* /.[!.]*; do
    entry=${path#/}
    case $entry in
    proc | run | scratch | sys | tmp) mkdir "$root/$entry" ;;
    *)
        if [ -L "$path" ]; then
            cp -P "$path" "$root/$entry"
        elif [ -d "$path" ]; then
            mkdir "$root/$entry"
            mount --rbind "$path" "$root/$entry"
        elif [ -f "$path" ]; then
            : > "$root/$entry"
            mount --bind "$path" "$root/$entry"
        fi
        ;;
    esac
done

if [ "$kind" = node ]; then
    mount -t proc proc "$root/proc"
    mkdir -p "$root/scratch" "$own/tmp"
    # The loop device goes when this mount goes, and the mount when the last process of the node does.
    mount -o loop "$own/scratch.img" "$root/scratch"
    chmod 1777 "$root/scratch" "$own/tmp"
    mount --bind "$own/tmp" "$root/tmp"
else
    mount --rbind /proc "$root/proc"
    mount --rbind /tmp "$root/tmp"
fi

# A new sysfs shows the interfaces of our network, the machine's own would show the machine's. It comes without the
# control groups, which slurmd looks for.
mount -t sysfs sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"

# The folder of the lab stays where it is, also when that is below /tmp or /run.
mkdir -p "$root$lab"
mount --bind "$lab" "$root$lab"

# Names and ssh as a site has them: no option needs to be given. What the person's own ssh is configured to do must not
# change what happens in the lab.
mount --bind "$lab/hosts" "$root/etc/hosts"
mount --bind "$lab/ssh/ssh_config" "$root/etc/ssh/ssh_config"
[ ! -d "$root/root/.ssh" ] || mount -t tmpfs -o size=1m,mode=700 ssh "$root/root/.ssh"

mkdir "$root/run/sshd" "$root/run/slurmd"
# munged refuses a key that others could read or replace.
install -d -o munge -g munge -m 755 "$root/run/munge"
install -o munge -g munge -m 400 "$lab/munge.key" "$root/run/munge/munge.key"

cd "$root"
mkdir .machine
pivot_root . .machine
umount -l /.machine
rmdir /.machine

echo ready
exec < /dev/null >&2
# The head is a plain process of the machine. The first process of a node also has to reap what others leave to it; a
# shell does while it waits.
[ "$kind" = node ] || exec sleep infinity
while :; do
    sleep 86400
done
