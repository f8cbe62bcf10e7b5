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
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "inventory" -d 'Show what this machine, or each node, is, and the derived limit of every part'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "list" -d 'Show benchmarks, settings and profiles, or explain one'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "settings" -d 'Show the settings of hosts that measurements depend on, and hold them against a profile'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "compare" -d 'Show two or more runs side by side: better, worse, the same, cannot tell'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "history" -d 'Show the runs so far'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "report" -d 'Show a run again'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l role -d 'Give nodes a role of the profile: head=n1' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l resume -d 'Continue an interrupted run: only the cases without a result are measured' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l launcher -d 'What starts the agents [default: slurm inside an allocation or with -N, ssh with -w, else local]' -r -f -a "local\t'A child process: this machine alone'
ssh\t'The site\'s ssh: a connection to each node, or for many nodes a tree of them'
slurm\t'A step of Slurm\'s, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, as a bare launcher'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l partition -d 'Slurm: the partition to ask for' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l account -d 'Slurm: the account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l reservation -d 'Slurm: the reservation to use' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l time -d 'Slurm: the time to ask for, as sbatch takes it' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l ssh -d 'The ssh client with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l ssh-fanout -d 'Reach more nodes than this through some of them instead of each by a connection of its own [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l mpirun -d 'The mpirun with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l script -d 'Play a script instead of measuring: simulated nodes with exact numbers' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l strict -d 'Exit 1 on warnings too'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l plan -d 'Print the cases, the time and what is disturbed, and run nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l share-hosts -d 'Measure nodes that share one kernel at the same time instead of one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s p -l param -d 'Give a parameter a value, or several for a sweep: -p kernel=copy,triad' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l pattern -d 'How nodes are paired for benchmarks of two parts: pair (default), ring, all-pairs, matchings, and at the same time bisection, incast, trunk' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l rounds -d 'Rounds of random pairs of the pattern matchings [default: 3]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l links -d 'How many links there are between the two groups of the pattern trunk, so that a missing one is found' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l factors -d 'Measure what each of these is worth: a baseline, and in turn the same without one of them. NAME alone takes the least load, the other side of a switch, each other word, or what the benchmark declares: --factors flows,affinity=none' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l repeats -d 'How often a study of factors measures all of it; from 3 on there is an interval [default: 6]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l seed -d 'What the order of a study of factors is drawn from [default: 1]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l resume -d 'Continue an interrupted run: only the cases without a result are measured' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l launcher -d 'What starts the agents [default: slurm inside an allocation or with -N, ssh with -w, else local]' -r -f -a "local\t'A child process: this machine alone'
ssh\t'The site\'s ssh: a connection to each node, or for many nodes a tree of them'
slurm\t'A step of Slurm\'s, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, as a bare launcher'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l partition -d 'Slurm: the partition to ask for' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l account -d 'Slurm: the account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l reservation -d 'Slurm: the reservation to use' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l time -d 'Slurm: the time to ask for, as sbatch takes it' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l ssh -d 'The ssh client with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l ssh-fanout -d 'Reach more nodes than this through some of them instead of each by a connection of its own [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l mpirun -d 'The mpirun with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l script -d 'Play a script instead of measuring: simulated nodes with exact numbers' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l plan -d 'Print the cases, the time and what is disturbed, and run nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l share-hosts -d 'Measure nodes that share one kernel at the same time instead of one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l launcher -d 'What starts the agents [default: slurm inside an allocation or with -N, ssh with -w, else local]' -r -f -a "local\t'A child process: this machine alone'
ssh\t'The site\'s ssh: a connection to each node, or for many nodes a tree of them'
slurm\t'A step of Slurm\'s, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, as a bare launcher'"
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l partition -d 'Slurm: the partition to ask for' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l account -d 'Slurm: the account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l reservation -d 'Slurm: the reservation to use' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l time -d 'Slurm: the time to ask for, as sbatch takes it' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l ssh -d 'The ssh client with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l ssh-fanout -d 'Reach more nodes than this through some of them instead of each by a connection of its own [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l mpirun -d 'The mpirun with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l script -d 'Play a script instead: simulated nodes' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l share-hosts -d 'Measure nodes that share one kernel at the same time instead of one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l role -d 'Give nodes a role of the profile: head=n1' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -s w -l nodelist -d 'Run on these nodes: n[01-16],head' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -s N -l nodes -d 'Run on this many nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -s x -l exclude -d 'Leave out these nodes' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l launcher -d 'What starts the agents [default: slurm inside an allocation or with -N, ssh with -w, else local]' -r -f -a "local\t'A child process: this machine alone'
ssh\t'The site\'s ssh: a connection to each node, or for many nodes a tree of them'
slurm\t'A step of Slurm\'s, in this allocation or a new one'
mpirun\t'Open MPI\'s mpirun, as a bare launcher'"
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l partition -d 'Slurm: the partition to ask for' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l account -d 'Slurm: the account to charge' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l reservation -d 'Slurm: the reservation to use' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l time -d 'Slurm: the time to ask for, as sbatch takes it' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l ssh -d 'The ssh client with its options: \'ssh -F cluster.conf\'' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l ssh-fanout -d 'Reach more nodes than this through some of them instead of each by a connection of its own [default: 64]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l mpirun -d 'The mpirun with its options' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l script -d 'Play a script instead of looking: simulated nodes' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l share-hosts -d 'Measure nodes that share one kernel at the same time instead of one after the other'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "check" -d 'Measure what a profile demands and judge it'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "run" -d 'Measure without judging'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "inventory" -d 'Show what this machine, or each node, is, and the derived limit of every part'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "list" -d 'Show benchmarks, settings and profiles, or explain one'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "settings" -d 'Show the settings of hosts that measurements depend on, and hold them against a profile'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "compare" -d 'Show two or more runs side by side: better, worse, the same, cannot tell'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "history" -d 'Show the runs so far'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "report" -d 'Show a run again'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
