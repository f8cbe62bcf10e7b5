# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_seatrial_global_optspecs
    string join \n h/help V/version
end

function __fish_seatrial_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_seatrial_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_seatrial_using_subcommand
    set -l cmd (__fish_seatrial_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c seatrial -n "__fish_seatrial_needs_command" -s h -l help -d 'Print help'
complete -c seatrial -n "__fish_seatrial_needs_command" -s V -l version -d 'Print version'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "check" -d 'Measure what a profile demands and judge it'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "run" -d 'Measure without judging'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "gate" -d 'Say in one line and within seconds whether this node may take jobs'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "inventory" -d 'Show the hardware of this machine or of each node, with the limit of every part'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "list" -d 'Show benchmarks, patterns, settings and profiles, or explain one of them'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "settings" -d 'Show host settings that affect measurements, compare them with a profile, apply and restore them'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "compare" -d 'Compare two or more runs: better, worse, same, cannot tell'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "history" -d 'List stored runs, and show the trend of a benchmark'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "report" -d 'Show the results of a run'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "export" -d 'Write a run in formats of other programs'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "profile" -d 'Create profiles from runs'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "verify" -d 'Verify an evidence file: that nothing was changed, and that its verdicts follow from its samples'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "clean" -d 'Remove what interrupted runs left behind'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "copy" -d 'Copy files and directories to another host or within this one; a copy that was interrupted continues'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l role -d 'Nodes that have a role of the profile: head=n1' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l reference -d 'Run to compare with in criteria with `percent_of = "reference"`: an id, the start or end of an id, `last`, `last~1`, or a folder' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l resume -d 'Resume an interrupted run on its nodes and with its options, and measure only cases without a result. Options that say how to reach the nodes may be given again' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document in the published schema'
csv\t'One CSV line per metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l time-budget -d 'Time on each node within which extra trials are made, for example 90s: repeats of disturbed trials and trials for a narrower interval stay within it, and cases that no criterion judges make fewer trials if the plan does not fit [default: time_budget of the profile, if it has one]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l launcher -d 'How to start the agents [default: slurm inside an allocation or with an option for Slurm, else ssh with -w, slurm with -N, local without both]' -r -f -a "local\t'A child process, on this machine only'
ssh\t'ssh, directly to each node or for many nodes through a tree of relays'
slurm\t'One Slurm job step, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, only to start processes'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l partition -d 'Slurm: partition' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l account -d 'Slurm: account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l reservation -d 'Slurm: reservation' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l time -d 'Slurm: time limit, in the form of sbatch --time' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l ssh -d 'ssh command with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l ssh-fanout -d 'Number of nodes above which some nodes relay the connections to others [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l mpirun -d 'mpirun command with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l script -d 'Use the simulated nodes and exact numbers of this script' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l strict -d 'Exit with 1 on warnings too'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l source-tables -d 'Print the tables of the document that the profile was made from, each cell beside the result and their ratio'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l plan -d 'Print cases, duration and disturbed resources, and measure nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l details -d 'Print all tables and findings instead of the first screen'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l no-probes -d 'Read no counters of the machine around the trials: what disturbs, slows down or drops is not seen, and no disturbed trial is repeated'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l share-hosts -d 'Measure nodes that share a kernel (same boot id) at the same time, not one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s p -l param -d 'Values of a parameter; several values make a sweep: -p kernel=copy,triad' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l pattern -d 'How two-node benchmarks pair the nodes: pair (default), ring, all-pairs, matchings, alone (each node with itself, over loopback); bisection, incast, one-to-many and trunk measure all pairs at the same time. How benchmarks of more nodes group them: all (default, one group), groups, isolate (all, and then groups until the node that holds them back is found)' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l rounds -d 'Number of random pairings of the pattern matchings [default: 3]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l links -d 'Number of links between the two groups of the pattern trunk, so that a missing link is found' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l beside -d 'Measure the benchmarks alone, and then while this one loads what they share, with a quarter, half and all of its cases; of its parameters -p sets those that the measured ones do not have' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l groups -d 'Groups of the pattern groups, which this option implies: a number of groups, a fact that the nodes of a group have in common (product, cpu, switch: the leaf switch in Slurm\'s topology, or rack: r12 of the name r12n03), or node sets joined by +, such as n[1-16]+n[17-32]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l factors -d 'Measure the effect of each factor: a baseline, then the same without one factor at a time. NAME=VALUE: with this value instead; NAME alone: with the smallest number, the other value of a switch, every other word of a choice, or the value that `seatrial list BENCH` shows under factors: --factors flows,affinity=none. Settings of the hosts, in blocks with and without each, set only meanwhile: --factors cpu.governor=powersave,nic.mtu@eth0=1500' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l repeats -d 'How often to repeat the whole study of factors; confidence intervals need at least 3 [default: 6]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l seed -d 'Seed of the random order in a study of factors [default: 1]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l resume -d 'Resume an interrupted run on its nodes and with its options, and measure only cases without a result. Options that say how to reach the nodes may be given again' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document in the published schema'
csv\t'One CSV line per metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l time-budget -d 'Time on each node within which extra trials are made, for example 90s: repeats of disturbed trials and trials for a narrower interval stay within it, and cases that no criterion judges make fewer trials if the plan does not fit [default: time_budget of the profile, if it has one]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l launcher -d 'How to start the agents [default: slurm inside an allocation or with an option for Slurm, else ssh with -w, slurm with -N, local without both]' -r -f -a "local\t'A child process, on this machine only'
ssh\t'ssh, directly to each node or for many nodes through a tree of relays'
slurm\t'One Slurm job step, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, only to start processes'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l partition -d 'Slurm: partition' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l account -d 'Slurm: account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l reservation -d 'Slurm: reservation' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l time -d 'Slurm: time limit, in the form of sbatch --time' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l ssh -d 'ssh command with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l ssh-fanout -d 'Number of nodes above which some nodes relay the connections to others [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l mpirun -d 'mpirun command with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l script -d 'Use the simulated nodes and exact numbers of this script' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l crossed -d 'Measure the factors crossed too: without each two of them, which shows whether the gain of one depends on the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l yes -d 'Do not ask before settings of the hosts are changed for --factors'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l plan -d 'Print cases, duration and disturbed resources, and measure nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l details -d 'Print all tables and findings instead of the first screen'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l no-probes -d 'Read no counters of the machine around the trials: what disturbs, slows down or drops is not seen, and no disturbed trial is repeated'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l share-hosts -d 'Measure nodes that share a kernel (same boot id) at the same time, not one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand gate" -l within -d 'Time until the line and the exit code; what then still runs is ended, and the result is unknown' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand gate" -l unknown -d 'Exit as if an unknown result were this one' -r -f -a "pass\t'The node takes jobs'
fail\t'The node takes none'"
complete -c seatrial -n "__fish_seatrial_using_subcommand gate" -l script -d 'Use the simulated nodes and exact numbers of this script' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand gate" -l keep -d 'Keep the run beside other runs, for `seatrial report`'
complete -c seatrial -n "__fish_seatrial_using_subcommand gate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l launcher -d 'How to start the agents [default: slurm inside an allocation or with an option for Slurm, else ssh with -w, slurm with -N, local without both]' -r -f -a "local\t'A child process, on this machine only'
ssh\t'ssh, directly to each node or for many nodes through a tree of relays'
slurm\t'One Slurm job step, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, only to start processes'"
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l partition -d 'Slurm: partition' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l account -d 'Slurm: account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l reservation -d 'Slurm: reservation' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l time -d 'Slurm: time limit, in the form of sbatch --time' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l ssh -d 'ssh command with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l ssh-fanout -d 'Number of nodes above which some nodes relay the connections to others [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l mpirun -d 'mpirun command with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l map -d 'Also write the map of the machine to this SVG file: sockets, NUMA nodes, caches, cores and devices with their limits; of several nodes, one map for each kind of machine' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l script -d 'Use the simulated nodes of this script' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l share-hosts -d 'Measure nodes that share a kernel (same boot id) at the same time, not one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l role -d 'Nodes that have a role of the profile: head=n1' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l launcher -d 'How to start the agents [default: slurm inside an allocation or with an option for Slurm, else ssh with -w, slurm with -N, local without both]' -r -f -a "local\t'A child process, on this machine only'
ssh\t'ssh, directly to each node or for many nodes through a tree of relays'
slurm\t'One Slurm job step, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, only to start processes'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l partition -d 'Slurm: partition' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l account -d 'Slurm: account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l reservation -d 'Slurm: reservation' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l time -d 'Slurm: time limit, in the form of sbatch --time' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l ssh -d 'ssh command with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l ssh-fanout -d 'Number of nodes above which some nodes relay the connections to others [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l mpirun -d 'mpirun command with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l script -d 'Use the simulated nodes of this script' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -l share-hosts -d 'Measure nodes that share a kernel (same boot id) at the same time, not one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -a "apply" -d 'Set what a profile wants, or single values, so that it can be restored'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -a "restore" -d 'Restore the values before an `apply`, the last one first'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -a "try" -d 'Measure which settings of a profile pay here, which do nothing and which hurt'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and not __fish_seen_subcommand_from apply restore try help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l for -d 'Restore by itself after this time: 30min, 2h' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l role -d 'Nodes that have a role of the profile: head=n1' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l launcher -d 'How to start the agents [default: slurm inside an allocation or with an option for Slurm, else ssh with -w, slurm with -N, local without both]' -r -f -a "local\t'A child process, on this machine only'
ssh\t'ssh, directly to each node or for many nodes through a tree of relays'
slurm\t'One Slurm job step, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, only to start processes'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l partition -d 'Slurm: partition' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l account -d 'Slurm: account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l reservation -d 'Slurm: reservation' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l time -d 'Slurm: time limit, in the form of sbatch --time' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l ssh -d 'ssh command with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l ssh-fanout -d 'Number of nodes above which some nodes relay the connections to others [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l mpirun -d 'mpirun command with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l script -d 'Use the simulated nodes of this script' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l sysroot -d 'Change the files below this folder instead of /' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l yes -d 'Do not ask'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l dry-run -d 'Print the plan, and change nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l persist -d 'Set the values again at every boot, by files in /etc/sysctl.d, /etc/udev/rules.d and /etc/tmpfiles.d'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -l share-hosts -d 'Measure nodes that share a kernel (same boot id) at the same time, not one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l launcher -d 'How to start the agents [default: slurm inside an allocation or with an option for Slurm, else ssh with -w, slurm with -N, local without both]' -r -f -a "local\t'A child process, on this machine only'
ssh\t'ssh, directly to each node or for many nodes through a tree of relays'
slurm\t'One Slurm job step, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, only to start processes'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l partition -d 'Slurm: partition' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l account -d 'Slurm: account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l reservation -d 'Slurm: reservation' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l time -d 'Slurm: time limit, in the form of sbatch --time' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l ssh -d 'ssh command with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l ssh-fanout -d 'Number of nodes above which some nodes relay the connections to others [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l mpirun -d 'mpirun command with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l script -d 'Use the simulated nodes of this script' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l sysroot -d 'Change the files below this folder instead of /' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l force -d 'Restore also what somebody else has changed since'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -l share-hosts -d 'Measure nodes that share a kernel (same boot id) at the same time, not one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l with -d 'Benchmarks that show what a setting is worth' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -s p -l param -d 'Values of a parameter: -p time=5s' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l pattern -d 'How two-node benchmarks pair the nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l repeats -d 'Blocks of each setting; confidence intervals need at least 3 [default: 6]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l seed -d 'Seed of the random order [default: 1]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l write -d 'Write the settings that pay for one benchmark at least, and hurt none, as a profile' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l role -d 'Nodes that have a role of the profile: head=n1' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document in the published schema'
csv\t'One CSV line per metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l launcher -d 'How to start the agents [default: slurm inside an allocation or with an option for Slurm, else ssh with -w, slurm with -N, local without both]' -r -f -a "local\t'A child process, on this machine only'
ssh\t'ssh, directly to each node or for many nodes through a tree of relays'
slurm\t'One Slurm job step, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, only to start processes'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l partition -d 'Slurm: partition' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l account -d 'Slurm: account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l reservation -d 'Slurm: reservation' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l time -d 'Slurm: time limit, in the form of sbatch --time' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l ssh -d 'ssh command with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l ssh-fanout -d 'Number of nodes above which some nodes relay the connections to others [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l mpirun -d 'mpirun command with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l script -d 'Use the simulated nodes of this script' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l yes -d 'Do not ask'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l plan -d 'Print settings, cases and duration, and measure nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -l share-hosts -d 'Measure nodes that share a kernel (same boot id) at the same time, not one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from try" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "apply" -d 'Set what a profile wants, or single values, so that it can be restored'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "restore" -d 'Restore the values before an `apply`, the last one first'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "try" -d 'Measure which settings of a profile pay here, which do nothing and which hurt'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l as -d 'Compare parts of runs under names: nodes (n1), devices (gpu:0, n1/gpu:0), directories (/scratch), parameters (mtu=1500). Parts of one run, each with the first: `compare RUN --as a=n1,b=n2`; parts of several runs, a name for each run: `compare OLD NEW --as a=n1,b=n2`. A name may have several parts, which are compared in their order' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l price -d 'Prices by a name of --as or a RUN as typed, such as a=1200,b=900: shows the headline figures per price, ranked' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l price-unit -d 'Unit of the prices, such as EUR' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l same-within -d 'Differences proven smaller than this count as the same; with 0 only equal values do' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l html -d 'Write the comparison as one self-contained HTML page instead of printing it; `-` is standard output' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l fail-on-worse -d 'Exit with 1 when a metric is worse or a case newly fails; with 3 when a case could not be measured again, a metric may be worse, or nothing could be compared'
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l details -d 'Print all tables and intervals instead of one table of the headline figures'
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -l metric -d 'Only the trend of this metric' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -l last -d 'Only the last COUNT runs' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l nodes -d 'Print the nodes with this verdict as one list that Slurm and -w read, such as n[1,4-6], and nothing else' -r -f -a "fail\t'A criterion is not met, or a problem was found'
pass\t'Every judged criterion is met, warnings included'
unknown\t'Nothing could be judged, or a criterion could not be judged'"
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l form -d 'Print another form of the run' -r -f -a "ticket\t'Text for a vendor\'s support: machine, parts with serial numbers, missed criteria, findings, checksum of the evidence'"
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l node -d 'The node that --form is about; needed if the run has several' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l html -d 'Write the run as one self-contained HTML page instead of printing it; `-` is standard output' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document in the published schema'
csv\t'One CSV line per metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l details -d 'Print all tables and findings instead of the first screen'
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l source-tables -d 'Print the tables of the document that the profile was made from, each cell beside the result and their ratio'
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l junit -d 'JUnit XML: a node is a suite, a criterion a test, unknown is an error, numbers are properties' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l csv -d 'CSV, one line per metric of a case or place of a series, as `report -o csv` prints it' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l parquet -d 'Parquet, one row per sample, for DuckDB, pandas and similar tools' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l prometheus -d 'Prometheus text format, for the textfile collector of node_exporter: figures, limits and verdicts' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l bencher -d 'Bencher Metric Format (JSON): the median of every metric with its 95 % interval' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l nagios -d 'A line for Nagios: STATUS - text | performance data; on standard output the exit code is the plugin\'s too: 0 ok, 1 warning, 2 critical, 3 unknown' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l evidence -d 'The whole run with its samples and checksums of every file, for `seatrial verify`' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -s h -l help -d 'Print help'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and not __fish_seen_subcommand_from draft help" -s h -l help -d 'Print help'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and not __fish_seen_subcommand_from draft help" -f -a "draft" -d 'Draft a profile from good runs, with the bounds that the spread of their nodes suggests'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and not __fish_seen_subcommand_from draft help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and __fish_seen_subcommand_from draft" -l all-metrics -d 'Bound every metric that has a good direction, not only the headline metric of each benchmark'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and __fish_seen_subcommand_from draft" -s h -l help -d 'Print help'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and __fish_seen_subcommand_from help" -f -a "draft" -d 'Draft a profile from good runs, with the bounds that the spread of their nodes suggests'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand verify" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand verify" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -s o -l output -d 'Format of the result on standard output; with any but table, nothing else is printed there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -l color -d 'When to use colour; auto follows NO_COLOR' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -l dry-run -d 'Print what would be removed, and remove nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -l other-hosts -d 'Also remove folders of other hosts, for which it is unknown whether their process still runs'
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand copy" -l streams -d 'Data connections, or threads within this host' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand copy" -l window -d 'Buffers of each data connection: auto: the kernel\'s; bdp: (speed of the interface in bit/s) x (round trip in s) / 8 bytes; or a size' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand copy" -l ssh -d 'ssh command with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand copy" -l checksum -d 'Compare the content of files that have the same size, whatever their time says'
complete -c seatrial -n "__fish_seatrial_using_subcommand copy" -l preserve -d 'Also owners and extended attributes (access control lists too); modes and times always come along'
complete -c seatrial -n "__fish_seatrial_using_subcommand copy" -l encrypt -d 'Encrypt the data: AES-256-GCM, or ChaCha20-Poly1305 on a CPU without AES instructions'
complete -c seatrial -n "__fish_seatrial_using_subcommand copy" -l dry-run -d 'Print which files would be copied, and write nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand copy" -s h -l help -d 'Print help'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "check" -d 'Measure what a profile demands and judge it'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "run" -d 'Measure without judging'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "gate" -d 'Say in one line and within seconds whether this node may take jobs'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "inventory" -d 'Show the hardware of this machine or of each node, with the limit of every part'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "list" -d 'Show benchmarks, patterns, settings and profiles, or explain one of them'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "settings" -d 'Show host settings that affect measurements, compare them with a profile, apply and restore them'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "compare" -d 'Compare two or more runs: better, worse, same, cannot tell'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "history" -d 'List stored runs, and show the trend of a benchmark'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "report" -d 'Show the results of a run'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "export" -d 'Write a run in formats of other programs'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "profile" -d 'Create profiles from runs'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "verify" -d 'Verify an evidence file: that nothing was changed, and that its verdicts follow from its samples'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "clean" -d 'Remove what interrupted runs left behind'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "copy" -d 'Copy files and directories to another host or within this one; a copy that was interrupted continues'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run gate inventory list settings compare history report export profile verify clean copy help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "apply" -d 'Set what a profile wants, or single values, so that it can be restored'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "restore" -d 'Restore the values before an `apply`, the last one first'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "try" -d 'Measure which settings of a profile pay here, which do nothing and which hurt'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and __fish_seen_subcommand_from profile" -f -a "draft" -d 'Draft a profile from good runs, with the bounds that the spread of their nodes suggests'
