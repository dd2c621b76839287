<?php
// An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
// Certify: overlong certify -- php adapter.php        (as written it needs the extension mbstring)
// (--subject FILE before -- names a file of your decoder, too)
declare(strict_types=1);

// YOUR DECODER HERE: it returns code points as UTF-32, big-endian, or null where it refuses. What it throws is a bug.
function decode(string $octets): ?string
{
    return mb_check_encoding($octets, 'UTF-8') ? mb_convert_encoding($octets, 'UTF-32BE', 'UTF-8') : null;
}

// Status, number, length and incomplete as they are sent, output.
function answer(string $operation, string $octets): array
{
    try {
        $units = decode($octets);
    } catch (Throwable $error) {
        $words = preg_replace('/[^ -~]/', '?', $error->getMessage());
        return ['X', pack('N', strlen($words)), "\0", "\0", $words];
    }
    if ($units === null) {
        return ['R', "\xFF\xFF\xFF\xFF", "\0", "\xFF", '']; // not said where; if yours does: pack('N', $offset)
    }
    $units = $operation === 'D' ? $units : '';
    return ['A', pack('N', intdiv(strlen($units), 4)), "\0", "\0", $units];
}

// P echoes, V validates, D decodes, B does V or D to many inputs and answers in columns.
function respond(string $operation, string $payload): string
{
    if ($operation === 'P') {
        return "A$payload";
    } elseif ($operation === 'V' || $operation === 'D') {
        $parts = answer($operation, $payload);
        return $parts[0] === 'R' ? implode($parts) : $parts[0] . $parts[4];
    } elseif ($operation !== 'B') {
        return 'U'; // not offered
    }
    $count = unpack('N', $payload, 1)[1];
    $columns = ['', '', '', '', ''];
    for ($item = 0, $place = 5 + 4 * $count; $item < $count; $item++, $place += $size) {
        $size = unpack('N', $payload, 5 + 4 * $item)[1];
        foreach (answer($payload[0], substr($payload, $place, $size)) as $column => $part) {
            $columns[$column] .= $part;
        }
    }
    return 'A' . implode($columns);
}

ini_set('display_errors', 'stderr'); // neither a warning nor other output may be taken for an answer
ob_start(fn (string $printed): string => '', 1);
fwrite(STDOUT, '{"overlong": 1, "language": "PHP", "operations": "PVDB"}' . "\n");
while (strlen($head = (string) stream_get_contents(STDIN, 8)) === 8) {
    ['size' => $size, 'request' => $request] = unpack('Nsize/Nrequest', $head);
    $body = stream_get_contents(STDIN, $size - 4);
    $response = respond($body[0], substr($body, 1));
    fwrite(STDOUT, pack('NN', strlen($response) + 4, $request) . $response);
}
