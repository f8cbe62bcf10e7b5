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
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "history" -d 'Show the runs so far, and how the numbers of a benchmark went'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "report" -d 'Show a run again'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "export" -d 'Write a run in the forms that other programs read'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "profile" -d 'Make profiles from runs'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "verify" -d 'Check an evidence file: nothing was changed, and its verdicts follow from its samples'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "clean" -d 'Remove what interrupted runs left'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l role -d 'Give nodes a role of the profile: head=n1' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l reference -d 'The run that criteria with `percent_of = "reference"` are held against: an id, the start of one, `last`, a folder' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l resume -d 'Continue an interrupted run on its nodes and with its options: only the cases without a result are measured. How its nodes are reached may be said anew, each option by itself' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l time-budget -d 'Time that the run is to take on each node, for example 90s: repeats of disturbed trials and trials for a narrower interval stay within it, and what nothing judges makes fewer trials when the plan alone does not fit [default: the profile\'s time_budget, if it has one]' -r
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
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l share-hosts -d 'Measure nodes that share one kernel at the same time instead of one after the other, also nodes of one host name'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s p -l param -d 'Give a parameter a value, or several for a sweep: -p kernel=copy,triad' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l pattern -d 'How nodes are paired for benchmarks of two parts: pair (default), ring, all-pairs, matchings, alone (each node with itself, over its loopback), and at the same time bisection, incast, trunk' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l rounds -d 'Rounds of random pairs of the pattern matchings [default: 3]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l links -d 'How many links there are between the two groups of the pattern trunk, so that a missing one is found' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l factors -d 'Measure what each of these is worth: a baseline, and in turn the same without one of them. NAME alone takes the least load, the other side of a switch, each other word, or what the benchmark declares: --factors flows,affinity=none' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l repeats -d 'How often a study of factors measures all of it; from 3 on there is an interval [default: 6]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l seed -d 'What the order of a study of factors is drawn from [default: 1]' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l resume -d 'Continue an interrupted run on its nodes and with its options: only the cases without a result are measured. How its nodes are reached may be said anew, each option by itself' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l time-budget -d 'Time that the run is to take on each node, for example 90s: repeats of disturbed trials and trials for a narrower interval stay within it, and what nothing judges makes fewer trials when the plan alone does not fit [default: the profile\'s time_budget, if it has one]' -r
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
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l share-hosts -d 'Measure nodes that share one kernel at the same time instead of one after the other, also nodes of one host name'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
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
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -l share-hosts -d 'Measure nodes that share one kernel at the same time instead of one after the other, also nodes of one host name'
complete -c seatrial -n "__fish_seatrial_using_subcommand inventory" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l role -d 'Give nodes a role of the profile: head=n1' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
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
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -l share-hosts -d 'Measure nodes that share one kernel at the same time instead of one after the other, also nodes of one host name'
complete -c seatrial -n "__fish_seatrial_using_subcommand settings" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l same-within -d 'Differences that are shown to be smaller than this count as the same; 0: only equal ones do' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l html -d 'Write the comparison as one HTML page that needs no network, instead of printing it; `-` is standard output' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -l fail-on-worse -d 'Exit 1 when a metric is worse or a case fails that did not; 3 when one could not be measured again or nothing could be compared'
complete -c seatrial -n "__fish_seatrial_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -l metric -d 'Only the trend of this metric' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -l last -d 'Only the last so many runs' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l html -d 'Write the run as one HTML page that needs no network, instead of printing it; `-` is standard output' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l junit -d 'JUnit XML: a node is a suite, a criterion a test, unknown is an error, numbers are properties' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l csv -d 'CSV, one line a metric of a case or a place of a series, as `report -o csv` prints it' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l parquet -d 'Parquet, one row a sample, for DuckDB, pandas and the like' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l prometheus -d 'Prometheus text format, for the textfile collector of node_exporter: figures, limits and verdicts' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l bencher -d 'Bencher Metric Format (JSON): the median of every metric with its 95 % interval' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l nagios -d 'A line for Nagios: STATUS - text | performance data; on standard output the exit code is the plugin\'s too: 0 ok, 1 warning, 2 critical, 3 unknown' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -l evidence -d 'The whole run with its samples, sums of every file and a seal, for `seatrial verify`' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand export" -s h -l help -d 'Print help'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and not __fish_seen_subcommand_from draft help" -s h -l help -d 'Print help'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and not __fish_seen_subcommand_from draft help" -f -a "draft" -d 'Draft a profile from good runs: what they measured, bounded by the spread of their nodes'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and not __fish_seen_subcommand_from draft help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and __fish_seen_subcommand_from draft" -l all-metrics -d 'Bound every metric that has a good direction, and not only the first one of each benchmark'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and __fish_seen_subcommand_from draft" -s h -l help -d 'Print help'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and __fish_seen_subcommand_from help" -f -a "draft" -d 'Draft a profile from good runs: what they measured, bounded by the spread of their nodes'
complete -c seatrial -n "__fish_seatrial_using_subcommand profile; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand verify" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand verify" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -s o -l output -d 'Form of the result on standard output; every form but table prints nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document'"
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -l dry-run -d 'Say what would be removed, and remove nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -l other-hosts -d 'Remove also folders that another host made, of which this one cannot tell whether their process is gone'
complete -c seatrial -n "__fish_seatrial_using_subcommand clean" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "check" -d 'Measure what a profile demands and judge it'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "run" -d 'Measure without judging'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "inventory" -d 'Show what this machine, or each node, is, and the derived limit of every part'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "list" -d 'Show benchmarks, settings and profiles, or explain one'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "settings" -d 'Show the settings of hosts that measurements depend on, and hold them against a profile'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "compare" -d 'Show two or more runs side by side: better, worse, the same, cannot tell'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "history" -d 'Show the runs so far, and how the numbers of a benchmark went'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "report" -d 'Show a run again'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "export" -d 'Write a run in the forms that other programs read'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "profile" -d 'Make profiles from runs'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "verify" -d 'Check an evidence file: nothing was changed, and its verdicts follow from its samples'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "clean" -d 'Remove what interrupted runs left'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run inventory list settings compare history report export profile verify clean help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and __fish_seen_subcommand_from profile" -f -a "draft" -d 'Draft a profile from good runs: what they measured, bounded by the spread of their nodes'
