# Has the kernel answer EPERM to some system calls of a program (seccomp(2)), as container runtimes do.
# Usage: perl forbid.pl NUMBER_OF_PRCTL NUMBER... -- PROGRAM ARGUMENT...
use strict;
use warnings;

my ($prctl, @calls) = splice @ARGV, 0, (grep { $ARGV[$_] eq '--' } 0 .. $#ARGV)[0];
shift @ARGV;

# struct sock_filter: u16 code, u8 jt, u8 jf, u32 k. Load the call's number; EPERM for those listed; else allow.
sub step { pack 'SCCL', @_ }
my $filter = step(0x20, 0, 0, 0);
$filter .= step(0x15, @calls - $_, 0, $calls[$_]) for 0 .. $#calls;
$filter .= step(0x06, 0, 0, 0x7fff0000) . step(0x06, 0, 0, 0x00050001);

# struct sock_fprog: u16 length, padding, pointer.
my $program = pack 'S x![J] P', length($filter) / 8, $filter;
syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "PR_SET_NO_NEW_PRIVS: $!\n";
syscall($prctl, 22, 2, $program) == 0 or die "PR_SET_SECCOMP: $!\n";
exec @ARGV or die "$ARGV[0]: $!\n";
