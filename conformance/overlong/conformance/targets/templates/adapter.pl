# An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
# Certify: overlong certify -- perl adapter.pl        (--subject FILE before -- names a file of your decoder, too)
# As written it puts Encode's strict UTF-8 under test, which is NOT CONFORMANT: it refuses noncharacters.
use strict;
use warnings;
no warnings 'utf8';    # whatever a decoder accepts is told, surrogates and all
use Encode ();

# YOUR DECODER HERE: it returns a string of characters, or undef where it refuses. If it dies, that is taken for a bug.
sub decode {
    my ($octets) = @_;
    my $text = eval { Encode::decode('UTF-8', $octets, Encode::FB_CROAK | Encode::LEAVE_SRC) };
    die $@ if !defined $text && $@ !~ /does not map to/;
    return $text;
}

# Status, number, length and incomplete as they are sent, output.
sub answer {
    my ($operation, $octets) = @_;
    my $text;
    if (!eval { $text = decode($octets); 1 }) {
        (my $words = $@) =~ s/[^ -~]/?/g;
        return ('X', pack('N', length $words), "\0", "\0", $words);
    }
    return ('R', "\xFF\xFF\xFF\xFF", "\0", "\xFF", '') if !defined $text;    # if yours says where: pack('N', $offset)
    my @units = $operation eq 'D' ? unpack('W*', $text) : ();
    return ('A', pack('N', scalar @units), "\0", "\0", pack('N*', @units));
}

# P echoes, V validates, D decodes, B does V or D to many inputs and answers in columns.
sub respond {
    my ($operation, $payload) = @_;
    return "A$payload" if $operation eq 'P';
    if ($operation eq 'V' || $operation eq 'D') {
        my @parts = answer($operation, $payload);
        return $parts[0] eq 'R' ? join '', @parts : $parts[0] . $parts[4];
    }
    return 'U' if $operation ne 'B';    # not offered
    my ($inner, $count, @columns) = (unpack('a N', $payload), ('') x 5);
    my $place = 5 + 4 * $count;
    for my $size (unpack "x5 N$count", $payload) {
        my @parts = answer($inner, substr $payload, $place, $size);
        $columns[$_] .= $parts[$_] for 0 .. 4;
        $place += $size;
    }
    return join '', 'A', @columns;
}

open my $answers, '>&', \*STDOUT or die "stdout: $!\n";
open STDOUT, '>&', \*STDERR or die "stderr: $!\n";    # what is printed from here on is no answer
binmode $_ for \*STDIN, $answers;                     # no layer may translate octets
select $answers; $| = 1; select STDOUT;               # flushed after each print
print $answers qq({"overlong": 1, "language": "Perl", "operations": "PVDB"}\n);
while ((read(STDIN, my $head, 8) // 0) == 8) {
    my ($size, $request) = unpack 'NN', $head;
    read(STDIN, my $body, $size - 4);
    my $response = respond(substr($body, 0, 1), substr $body, 1);
    print $answers pack('NN', 4 + length $response, $request), $response;
}
