# Adapter for Perl's Encode: perl perl_utf8.pl utf8|utf-8-strict
# "utf8" is Perl's own lax encoding, "utf-8-strict" is UTF-8.
use strict;
use warnings;
no warnings 'utf8';    # surrogates and numbers beyond Unicode are asked about on purpose
use Encode ();

my $name = $ARGV[0];
my $encoding = Encode::find_encoding($name);
my $strict   = Encode::FB_CROAK | Encode::LEAVE_SRC;    # LEAVE_SRC: keep the caller's octets

# Calling these methods of the encoding takes half the time of "Encode::decode" and "Encode::encode", which call them.
my %check    = (D => $strict, V => $strict, L => Encode::FB_DEFAULT | Encode::LEAVE_SRC);

# Code points as UTF-32. Perl's may have 63 bits; one that does not fit is written as the largest number.
sub units {
    my @points = unpack('W*', $_[0]);
    return pack('N*', map { $_ > 0xFFFF_FFFF ? 0xFFFF_FFFF : $_ } @points);
}

# FB_QUIET removes the octets that it decodes before it stops; an encoder's refusal gives its place only in words.
sub offset {
    my ($octets) = @_;
    my $rest = $octets;
    $encoding->decode($rest, Encode::FB_QUIET);
    return length($octets) - length $rest;
}

# The status and number of an operation that died, and the text of an error.
sub failure {
    my ($operation, $payload) = @_;
    return ('R', $operation eq 'E' ? 0xFFFF_FFFF : offset($payload), '') if $@ =~ /does not map to/;
    my $text = substr $@, 0, 200;
    $text =~ s/[^ -~]/?/g;
    return ('X', length $text, $text);
}

# The answers in columns: statuses, numbers, and the concatenated outputs. Adjacent texts become units together.
sub answers {
    my ($operation, $payload, $place, @lengths) = @_;
    my ($encodes, $silent, $check) = ($operation eq 'E', $operation eq 'V', $check{$operation});
    my ($statuses, $outputs, $texts, @numbers) = ('', '', '');
    for my $length (@lengths) {
        my $octets = substr $payload, $place, $length;
        my $output = eval {
            $encodes
                ? $encoding->encode(pack('W*', unpack 'N*', $octets), $strict)
                : $encoding->decode($octets, $check);
        };
        $place += $length;
        if (defined $output) {
            $statuses .= 'A';
            push @numbers, $silent ? 0 : length $output;
            if    ($encodes) { $outputs .= $output }
            elsif (!$silent) { $texts   .= $output }
            next;
        }
        my ($status, $number, $said) = failure($operation, $octets);
        $statuses .= $status;
        push @numbers, $number;
        ($outputs, $texts) = ($outputs . units($texts) . $said, '') if $said ne '';
    }
    return ($statuses, \@numbers, $outputs . units($texts));
}

sub batch {
    my ($operation, $payload) = @_;
    my $count = unpack 'N', $payload;
    my ($statuses, $numbers, $outputs) = answers($operation, $payload, 4 + 4 * $count, unpack "x4 N$count", $payload);
    (my $incompletes = $statuses) =~ tr/RAX/\xFF\0\0/;
    return join '', 'A', $statuses, pack('N*', @$numbers), "\0" x $count, $incompletes, $outputs;
}

sub respond {
    my $operation = substr $_[0], 0, 1;
    my $payload   = substr $_[0], 1;
    my $offered   = qr/\A[VDLE]/;
    return "A$payload" if $operation eq 'P';
    return batch(substr($payload, 0, 1), substr($payload, 1)) if $operation eq 'B' && $payload =~ $offered;
    return 'U' if $operation !~ $offered;
    my ($status, $numbers, $output) = answers($operation, $payload, 0, length $payload);
    return $status . ($status eq 'R' ? pack 'N', @$numbers : '') . $output;
}

sub take {
    my ($size) = @_;
    my $got = read(STDIN, my $octets, $size);
    return defined $got && $got == $size ? $octets : undef;
}

die "name utf8 or utf-8-strict\n" if !$encoding;
binmode $_ for *STDIN, *STDOUT;
$| = 1;    # flushed after each print, so each answer is one
my $mode = 'replacement-per-sequence'; # both: dankogai/p5-encode#166
print qq({"overlong": 1, "name": "perl-$name", "version": "Perl $^V, Encode $Encode::VERSION", "language": "Perl", ),
    qq("operations": "PBVDLE", "units": "utf-32", "error_mode": "$mode", "encode_errors": "fatal"}\n);
while (defined(my $head = take(8))) {
    my ($length, $request) = unpack 'NN', $head;
    my $body = take($length - 4) // last;
    my $response = respond($body);
    print pack('NN', 4 + length $response, $request), $response;
}
