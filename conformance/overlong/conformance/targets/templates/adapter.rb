# An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
# Certify: overlong certify -- ruby adapter.rb        (--subject FILE before -- names a file of your decoder, too)

# YOUR DECODER HERE: it returns an array of code points, or nil where it refuses. What it raises is taken for a bug.
def decode(octets)
  text = octets.dup.force_encoding(Encoding::UTF_8)
  text.valid_encoding? ? text.codepoints : nil
end

# Status, number, length and incomplete as they are sent, output.
def answer(operation, octets)
  points = decode(octets)
  return "R", [0xFFFFFFFF].pack("N"), "\0", "\xFF".b, "" if points.nil? # not said where; if yours does: [offset]
  units = operation == "D" ? points.pack("N*") : ""
  ["A", [units.bytesize / 4].pack("N"), "\0", "\0", units]
rescue StandardError => error
  words = error.message.b.gsub(/[^ -~]/n, "?")
  ["X", [words.bytesize].pack("N"), "\0", "\0", words]
end

# P echoes, V validates, D decodes, B does V or D to many inputs and answers in columns.
def respond(operation, payload)
  case operation
  when "P" then "A".b + payload
  when "V", "D"
    parts = answer(operation, payload)
    parts[0] == "R" ? parts.join : parts[0].b + parts[4]
  when "B"
    count = payload.unpack1("N", offset: 1)
    columns = Array.new(5) { String.new(encoding: Encoding::BINARY) }
    place = 5 + 4 * count
    payload.unpack("N#{count}", offset: 5).each do |size|
      columns.zip(answer(payload[0], payload.byteslice(place, size))) { |column, part| column << part }
      place += size
    end
    "A".b + columns.join
  else "U" # not offered
  end
end

answers = $stdout.dup.binmode # binary, or the pipe's octets would be translated
$stdout.reopen($stderr) # what is printed from here on is no answer
$stdin.binmode
answers.sync = true # nothing waits in a buffer
answers.write('{"overlong": 1, "language": "Ruby", "operations": "PVDB"}', "\n")
while (head = $stdin.read(8)) && head.bytesize == 8
  size, request = head.unpack("NN")
  body = $stdin.read(size - 4)
  response = respond(body[0], body.byteslice(1..))
  answers.write([response.bytesize + 4, request].pack("NN") + response)
end
