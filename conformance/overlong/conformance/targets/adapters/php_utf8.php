<?php
// Adapter for PHP's decoders: php -d display_errors=stderr php_utf8.php NAME, one of the names in decoder()
// below. PHP must not show its warnings on stdout.
declare(strict_types=1);

const NOT_SAID = 0xFFFFFFFF;
// An operation returns an answer: status, number (output units, or a text's length), incomplete, output, marks.
const VALID = ['A', 0, "\0", '', ''];
const REFUSED = ['R', NOT_SAID, "\xFF", '', ''];

function accepted(string $output, int $size, string $marks = ''): array
{
    return ['A', intdiv(strlen($output), $size), "\0", $output, $marks];
}

function failed(string $why): array
{
    $text = preg_replace('/[^ -~]/', '?', substr($why, 0, 200));
    return ['X', strlen($text), "\0", $text, ''];
}

// The last warning; iconv refuses with one.
function warning(): string
{
    return error_get_last()['message'] ?? 'false without a warning';
}

// It refuses nothing; a strict operation checks first.
function mb_converted(string $octets): array
{
    return accepted(mb_convert_encoding($octets, 'UTF-32BE', 'UTF-8'), 4);
}

function mb_encode(string $payload): array
{
    $octets = '';
    foreach ($payload === '' ? [] : unpack('N*', $payload) as $number) {
        $character = mb_chr($number, 'UTF-8');
        if ($character === false) {
            return REFUSED;
        }
        $octets .= $character;
    }
    return accepted($octets, 1);
}

function by_iconv(string $from, string $to, int $size, string $octets): array
{
    $output = @iconv($from, $to, $octets);
    if ($output !== false) {
        return accepted($output, $size);
    }
    $why = warning();
    $known = str_contains($why, 'illegal character') || str_contains($why, 'incomplete multibyte character');
    return $known ? REFUSED : failed($why);
}

// The filter convert.iconv.*, which gets each chunk in a separate write. Its output goes to a file in memory, whose
// position is read after each chunk. Removing the filter ends the stream.
function by_filter(array $chunks, bool $marked): array
{
    error_clear_last();
    $file = fopen('php://memory', 'w+b');
    $filter = stream_filter_append($file, 'convert.iconv.UTF-8/UTF-32BE', STREAM_FILTER_WRITE);
    $marks = [];
    $refused = false;
    foreach ($chunks as $chunk) {
        $refused = @fwrite($file, $chunk) !== strlen($chunk);
        $marks[] = ftell($file) >> 2;
        if ($refused) {
            break;
        }
    }
    if ($refused || !@stream_filter_remove($filter)) {
        $why = warning();
        @fclose($file);
        $known = str_contains($why, 'invalid multibyte sequence') || str_contains($why, 'Unable to flush filter');
        return $known ? ['R', NOT_SAID, "\xFF", '', $marked ? pack('N', count($marks)) : ''] : failed($why);
    }
    rewind($file);
    $output = stream_get_contents($file);
    fclose($file);
    return accepted($output, 4, $marked ? pack('N*', ...$marks) : '');
}

// A stream: the u16 number of chunks, their lengths, their octets.
function chunks(string $payload): array
{
    $count = unpack('n', $payload)[1];
    $place = 2 + 4 * $count;
    $chunks = [];
    foreach (unpack("N$count", $payload, 2) as $length) {
        $chunks[] = substr($payload, $place, $length);
        $place += $length;
    }
    return $chunks;
}

function by_preg(string $octets): array
{
    if (preg_match('//u', $octets) === 1) {
        return VALID;
    }
    return preg_last_error() === PREG_BAD_UTF8_ERROR ? REFUSED : failed(preg_last_error_msg());
}

// As a JSON string: only the ASCII characters required by RFC 8259 are escaped.
function by_json(string $octets, int $flags): array
{
    static $escapes = null;
    if ($escapes === null) {
        $escapes = ['"' => '\\"', '\\' => '\\\\'];
        for ($control = 0; $control < 0x20; $control++) {
            $escapes[chr($control)] = sprintf('\\u%04x', $control);
        }
    }
    $text = json_decode('"' . strtr($octets, $escapes) . '"', false, 512, $flags);
    if (is_string($text)) {
        return accepted($text, 1);
    }
    return json_last_error() === JSON_ERROR_UTF8 ? REFUSED : failed(json_last_error_msg());
}

// It returns HTML: unescape its three escaped characters.
function by_html(string $octets, int $flags): array
{
    $html = htmlspecialchars($octets, ENT_NOQUOTES | $flags, 'UTF-8');
    if ($html === '' && $octets !== '') { // an empty result is its refusal
        return REFUSED;
    }
    return accepted(strtr($html, ['&lt;' => '<', '&gt;' => '>', '&amp;' => '&']), 1);
}

// The operations of a decoder, and further members of its greeting.
function decoder(string $name): array
{
    return match ($name) {
        'mbstring' => [[
            'V' => fn($octets) => mb_check_encoding($octets, 'UTF-8') ? VALID : REFUSED,
            'D' => fn($octets) => mb_check_encoding($octets, 'UTF-8') ? mb_converted($octets) : REFUSED,
            'L' => mb_converted(...),
            'E' => mb_encode(...),
        ], ['error_mode' => 'replacement']],
        'mb-scrub' => [[
            'L' => fn($octets) => accepted(mb_scrub($octets, 'UTF-8'), 1),
        ], ['units' => 'utf-8', 'error_mode' => 'replacement']],
        'iconv' => [[
            'D' => fn($octets) => by_iconv('UTF-8', 'UTF-32BE', 4, $octets),
            'E' => fn($payload) => by_iconv('UTF-32BE', 'UTF-8', 1, $payload),
            'F' => fn($payload) => by_iconv('UTF-16BE', 'UTF-8', 1, $payload),
        ], ['version' => 'PHP ' . PHP_VERSION . ', ' . ICONV_IMPL . ' ' . ICONV_VERSION]],
        'iconv-filter' => [[
            'D' => fn($octets) => by_filter([$octets], false),
            'S' => fn($payload) => by_filter(chunks($payload), true),
        ], [
            'version' => 'PHP ' . PHP_VERSION . ', ' . ICONV_IMPL . ' ' . ICONV_VERSION,
            'stream_refusals' => 'marked',
        ]],
        'preg' => [['V' => by_preg(...)], ['version' => 'PHP ' . PHP_VERSION . ', PCRE ' . PCRE_VERSION]],
        'json' => [[
            'D' => fn($octets) => by_json($octets, 0),
            'L' => fn($octets) => by_json($octets, JSON_INVALID_UTF8_SUBSTITUTE),
        ], ['units' => 'utf-8', 'wrapper' => 'json-string', 'error_mode' => 'replacement-per-octet']],
        'json-ignore' => [[
            'L' => fn($octets) => by_json($octets, JSON_INVALID_UTF8_IGNORE),
        ], ['units' => 'utf-8', 'wrapper' => 'json-string', 'error_mode' => 'skip']],
        'htmlspecialchars' => [[
            'D' => fn($octets) => by_html($octets, 0),
            'L' => fn($octets) => by_html($octets, ENT_SUBSTITUTE),
        ], ['units' => 'utf-8', 'error_mode' => 'replacement-up-to-lead']],
        default => throw new ValueError("no decoder is called \"$name\""),
    };
}

function batch(callable $run, string $payload): string
{
    $count = unpack('N', $payload)[1];
    $place = 4 + 4 * $count;
    $statuses = $incompletes = $outputs = $marks = '';
    $numbers = [];
    foreach ($count ? unpack("N$count", $payload, 4) : [] as $length) {
        [$status, $numbers[], $incomplete, $output, $marked] = $run(substr($payload, $place, $length));
        $place += $length;
        $statuses .= $status;
        $incompletes .= $incomplete;
        $outputs .= $output;
        $marks .= $marked;
    }
    return 'A' . $statuses . pack('N*', ...$numbers) . str_repeat("\0", $count) . $incompletes . $outputs . $marks;
}

function single(callable $run, string $payload): string
{
    [$status, $number, $incomplete, $output, $marks] = $run($payload);
    return $status === 'R' ? 'R' . pack('NC', $number, 0) . $incomplete . $marks : $status . $marks . $output;
}

function respond(array $operations, string $body): string
{
    $letter = $body[0];
    if ($letter === 'P') {
        return 'A' . substr($body, 1);
    }
    if ($letter === 'B' && isset($operations[$body[1]])) {
        return batch($operations[$body[1]], substr($body, 2));
    }
    return isset($operations[$letter]) ? single($operations[$letter], substr($body, 1)) : 'U';
}

function take(int $size): ?string
{
    $octets = '';
    while (strlen($octets) < $size) {
        $more = fread(STDIN, $size - strlen($octets));
        if ($more === false || $more === '') {
            return null;
        }
        $octets .= $more;
    }
    return $octets;
}

function put(string $octets): void
{
    while ($octets !== '') {
        $octets = substr($octets, fwrite(STDOUT, $octets));
    }
}

$name = $argv[1] ?? '';
if (extension_loaded('mbstring')) {
    mb_substitute_character(0xFFFD);
}
[$operations, $words] = decoder($name);
stream_set_chunk_size(STDIN, 1 << 18);
put(json_encode($words + [
    'overlong' => 1,
    'name' => "php-$name",
    'version' => 'PHP ' . PHP_VERSION,
    'language' => 'PHP',
    'operations' => 'PB' . implode('', array_keys($operations)),
    'units' => 'utf-32',
    'encode_errors' => 'fatal',
]) . "\n");
while (($head = take(8)) !== null) {
    $body = take(unpack('N', $head)[1] - 4);
    if ($body === null) {
        exit(1);
    }
    $response = respond($operations, $body);
    put(pack('N', 4 + strlen($response)) . substr($head, 4) . $response);
}
