# Adapter for Ruby's decoders: ruby ruby_utf8.rb string|encode|unpack
# "string" is String itself, "encode" the transcoder of String#encode, "unpack" the letter U of unpack.
NOT_SAID = 0xFFFFFFFF
UNITS = Encoding::UTF_32BE

# An operation returns an answer: [status, number, length, incomplete, output, marks]. The number is the count of
# output units, the offset of a refusal, or the length of an internal error's text.
def accepted(output, size = 4, marks = "")
  [?A, output.bytesize / size, 0, 0, output, marks]
end

def numbers(points)
  [?A, points.size, 0, 0, points.pack("N*"), ""]
end

REFUSED = [?R, NOT_SAID, 0, 0xFF, "", ""].freeze # without further details

# -- String

def string_validate(octets)
  octets.force_encoding("UTF-8").valid_encoding? ? [?A, 0, 0, 0, "", ""] : REFUSED
end

def string_decode(octets)
  numbers(octets.force_encoding("UTF-8").codepoints)
rescue ArgumentError => error
  raise unless error.message == "invalid byte sequence in UTF-8"
  REFUSED
end

def string_replace(octets)
  numbers(octets.force_encoding("UTF-8").scrub("\uFFFD").codepoints)
end

def string_encode(payload)
  accepted(payload.unpack("N*").map { |number| number.chr("UTF-8") }.join.b, 1)
rescue RangeError
  REFUSED
end

# -- the transcoder

CONVERTER = [Encoding::UTF_8, UNITS].freeze
REPLACING = { invalid: :replace, replace: "\uFFFD" }.freeze
REFUSALS = %i[invalid_byte_sequence incomplete_input].freeze

# A refusal, from the converter's report. The converter counts no octets: ``taken`` is the number taken from the
# stream, including those that it read beyond the error.
def refusal(converter, result, taken, marks = "")
  _, _, _, wrong, beyond = converter.primitive_errinfo
  incomplete = result == :incomplete_input ? 1 : 0
  [?R, taken - wrong.bytesize - beyond.bytesize, wrong.bytesize, incomplete, "", marks]
end

def encode_decode(octets)
  accepted(octets.force_encoding("UTF-8").encode(UNITS).b)
rescue Encoding::InvalidByteSequenceError
  # The exception does not say where the error is; the transcoder's own interface does.
  converter, total, output = Encoding::Converter.new(*CONVERTER), octets.bytesize, +""
  result = converter.primitive_convert(octets, output)
  raise "encode refuses what Converter accepts" unless REFUSALS.include?(result)
  refusal(converter, result, total - octets.bytesize)
end

def encode_replace(octets)
  accepted(octets.force_encoding("UTF-8").encode(UNITS, **REPLACING).b)
end

# A stream: the u16 number of chunks, their lengths, their octets.
def stream(payload, **options)
  count = payload.unpack1("n")
  lengths = payload.unpack("x2N#{count}")
  converter, output, marks, place = Encoding::Converter.new(*CONVERTER, **options), +"", [], 2 + 4 * count
  lengths.each.with_index(1) do |length, number|
    chunk = payload.byteslice(place, length)
    result = converter.primitive_convert(chunk, output, nil, nil, partial_input: number < count)
    place += length
    if REFUSALS.include?(result)
      return refusal(converter, result, place - chunk.bytesize - 2 - 4 * count, [number].pack("N"))
    end
    marks << output.bytesize / 4
  end
  accepted(output.b, 4, marks.pack("N*"))
end

def encode_from(payload, encoding)
  accepted(payload.force_encoding(encoding).encode("UTF-8").b, 1)
rescue Encoding::InvalidByteSequenceError
  REFUSED
end

# -- unpack and pack

def unpack_decode(octets)
  numbers(octets.unpack("U*"))
rescue ArgumentError => error
  raise unless error.message.match?(/UTF-8/)
  REFUSED
end

def unpack_encode(payload)
  accepted(payload.unpack("N*").pack("U*").b, 1)
rescue RangeError
  REFUSED
end

DECODERS = {
  "string" => {
    "V" => method(:string_validate), "D" => method(:string_decode),
    "L" => method(:string_replace), "E" => method(:string_encode)
  },
  "encode" => {
    "D" => method(:encode_decode), "L" => method(:encode_replace),
    "S" => ->(payload) { stream(payload) }, "T" => ->(payload) { stream(payload, **REPLACING) },
    "E" => ->(payload) { encode_from(payload, "UTF-32BE") }, "F" => ->(payload) { encode_from(payload, "UTF-16BE") }
  },
  "unpack" => { "D" => method(:unpack_decode), "E" => method(:unpack_encode) }
}.freeze

# -- the protocol

def answer(run, payload)
  run.call(payload)
rescue StandardError => error # an internal error: refusals are answers
  text = "#{error.class}: #{error.message}".b[0, 200].gsub(/[^ -~]/n, "?")
  [?X, text.bytesize, 0, 0, text, ""]
end

def batch(run, payload)
  count = payload.unpack1("N")
  statuses, numbers, lengths, incompletes, output, marks = +"", [], [], [], +"".b, +"".b
  place = 4 + 4 * count
  payload.unpack("x4N#{count}").each do |size|
    status, number, length, incomplete, units, marked = answer(run, payload.byteslice(place, size))
    place += size
    statuses << status
    numbers << number
    lengths << length
    incompletes << incomplete
    output << units
    marks << marked
  end
  [?A, statuses, numbers.pack("N*"), lengths.pack("C*"), incompletes.pack("C*"), output, marks]
end

def single(run, payload)
  status, number, length, incomplete, output, marks = answer(run, payload)
  return [status, [number, length, incomplete].pack("NCC"), marks] if status == ?R
  [status, marks, output]
end

def respond(operations, body)
  letter = body[0]
  return [?A, body.byteslice(1..)] if letter == ?P
  if letter == ?B && (run = operations[body[1]])
    return batch(run, body.byteslice(2..))
  end
  run = operations[letter]
  run ? single(run, body.byteslice(1..)) : [?U]
end

mode = ARGV[0]
operations = DECODERS.fetch(mode) { abort "name one of #{DECODERS.keys.join(', ')}" }
name = mode == "string" ? "ruby" : "ruby-#{mode}"
answers = $stdout.dup
$stdout = $stderr # output of a decoder must not look like an answer
[$stdin, answers].each(&:binmode)
answers.sync = true
marks = operations.key?("S") ? '"stream_refusals": "marked", "stream_offsets": "stream", ' : ""
answers.write(%({"overlong": 1, "name": "#{name}", "version": "#{RUBY_ENGINE} #{RUBY_VERSION}", "language": "Ruby", ) +
  %("operations": "PB#{operations.keys.join}", "units": "utf-32", #{marks}"error_mode": "replacement", ) +
  %("encode_errors": "fatal"}\n))
while (head = $stdin.read(8)) && head.bytesize == 8
  length, = head.unpack("N")
  body = $stdin.read(length - 4)
  response = respond(operations, body).join
  answers.write([4 + response.bytesize].pack("N"), head.byteslice(4, 4), response)
end
