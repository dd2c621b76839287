-- An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting. Lua 5.3+.
-- Certify: overlong certify -- lua5.4 adapter.lua        (--subject FILE before -- names a file of your decoder, too)

-- YOUR DECODER HERE: it returns a table of code points, or nil and the offset of the flaw (nil if it does not say).
local function decode(octets)
  local count, place = utf8.len(octets)
  if not count then return nil, place - 1 end -- Lua counts from 1
  local points = {}
  for _, point in utf8.codes(octets) do points[#points + 1] = point end
  return points
end

local function u32(number) return string.pack(">I4", number) end

-- Status, number, length and incomplete as they are sent, output.
local function answer(operation, octets)
  local done, points, offset = pcall(decode, octets)
  if not done then -- it raised: that is taken for a bug of the decoder
    local words = tostring(points):gsub("[^ -~]", "?")
    return "X", u32(#words), "\0", "\0", words
  end
  if not points then return "R", u32(offset or 0xFFFFFFFF), "\0", "\xFF", "" end
  if operation == "V" then return "A", u32(0), "\0", "\0", "" end
  local units = {}
  for place, point in ipairs(points) do units[place] = u32(point) end
  return "A", u32(#units), "\0", "\0", table.concat(units)
end

-- P echoes, V validates, D decodes, B does V or D to many inputs and answers in columns.
local function respond(operation, payload)
  if operation == "P" then return "A" .. payload end
  if operation == "V" or operation == "D" then
    local parts = { answer(operation, payload) }
    return parts[1] == "R" and table.concat(parts) or parts[1] .. parts[5]
  end
  if operation ~= "B" then return "U" end -- not offered
  local inner, count = string.unpack("c1>I4", payload)
  local columns, place = { {}, {}, {}, {}, {} }, 6 + 4 * count
  for item = 1, count do
    local size = string.unpack(">I4", payload, 2 + 4 * item)
    local parts = { answer(inner, payload:sub(place, place + size - 1)) }
    for column = 1, 5 do columns[column][item] = parts[column] end
    place = place + size
  end
  for column = 1, 5 do columns[column] = table.concat(columns[column]) end
  return "A" .. table.concat(columns)
end

print = function(...) io.stderr:write(table.concat({ ... }, "\t"), "\n") end -- it must not be taken for an answer
io.write('{"overlong": 1, "language": "Lua", "operations": "PVDB"}\n')
io.flush()
for head in function() return io.read(8) end do
  local size, request = string.unpack(">I4I4", head)
  local body = io.read(size - 4)
  local response = respond(body:sub(1, 1), body:sub(2))
  io.write(u32(#response + 4), u32(request), response)
  io.flush()
end
