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
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "list" -d 'Show benchmarks and profiles, or explain one'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "compare" -d 'Show two or more runs side by side: better, worse, the same, cannot tell'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "history" -d 'Show the runs so far'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "report" -d 'Show a run again'
complete -c seatrial -n "__fish_seatrial_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l resume -d 'Continue an interrupted run: only the cases without a result are measured' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l script -d 'Play a script instead of measuring: simulated nodes with exact numbers' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l strict -d 'Exit 1 on warnings too'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -l plan -d 'Print the cases, the time and what is disturbed, and run nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s p -l param -d 'Give a parameter a value, or several for a sweep: -p kernel=copy,triad' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l resume -d 'Continue an interrupted run: only the cases without a result are measured' -r
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s o -l output -d 'Form of the result on standard output; json and csv print nothing else there' -r -f -a "table\t'A table for people'
json\t'One JSON document, by the published schema'
csv\t'One line a metric of a case'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l script -d 'Play a script instead of measuring: simulated nodes with exact numbers' -r -F
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -l plan -d 'Print the cases, the time and what is disturbed, and run nothing'
complete -c seatrial -n "__fish_seatrial_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -l color -d 'When to use colour; NO_COLOR is honoured by auto' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c seatrial -n "__fish_seatrial_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
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
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run list compare history report help" -f -a "check" -d 'Measure what a profile demands and judge it'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run list compare history report help" -f -a "run" -d 'Measure without judging'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run list compare history report help" -f -a "list" -d 'Show benchmarks and profiles, or explain one'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run list compare history report help" -f -a "compare" -d 'Show two or more runs side by side: better, worse, the same, cannot tell'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run list compare history report help" -f -a "history" -d 'Show the runs so far'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run list compare history report help" -f -a "report" -d 'Show a run again'
complete -c seatrial -n "__fish_seatrial_using_subcommand help; and not __fish_seen_subcommand_from check run list compare history report help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
