-- Adapter for Lua's utf8 library (5.4): lua5.4 lua_utf8.lua strict|lax
-- "lax" lets numbers up to 7FFFFFFF and surrogates through, as the library's own argument does.
local lax = arg[1] == "lax"
local NOT_SAID = 0xFFFFFFFF

-- ">I4I4I4": a format for the requested number of units.
local formats = setmetatable({}, {
  __index = function(known, count)
    local format = ">" .. ("I4"):rep(count)
    known[count] = format
    return format
  end,
})

-- An operation returns a status, a number (units, offset or the length of a text), and output or text.
local function failed(message)
  local text = message:sub(1, 200):gsub("[^ -~]", "?")
  return "X", #text, text
end

local function validate(octets)
  local count, place = utf8.len(octets, 1, -1, lax)
  if count then return "A", 0, "" end
  return "R", place - 1, "" -- Lua counts from 1
end

local function decoded(octets, done, ...)
  if done then
    local count = select("#", ...)
    return "A", count, string.pack(formats[count], ...)
  end
  if not (...):find("invalid UTF-8 code", 1, true) then return failed(...) end
  local _, place = utf8.len(octets, 1, -1, lax) -- utf8.codepoint does not report the place
  return "R", place and place - 1 or NOT_SAID, ""
end

local function decode(octets)
  return decoded(octets, pcall(utf8.codepoint, octets, 1, -1, lax))
end

local function encode(payload)
  local count = #payload // 4
  local points = { string.unpack(formats[count], payload) } -- and the place behind them
  local done, octets = pcall(utf8.char, table.unpack(points, 1, count))
  if done then return "A", #octets, octets end
  if octets:find("value out of range", 1, true) then return "R", NOT_SAID, "" end
  return failed(octets)
end

local operations = { V = validate, D = decode, E = encode }

local function batch(run, payload)
  local count = string.unpack(">I4", payload)
  local statuses, numbers, outputs, incompletes = {}, {}, {}, {}
  local place = 5 + 4 * count
  for item = 1, count do
    local length = string.unpack(">I4", payload, 1 + 4 * item)
    local status, number, output = run(payload:sub(place, place + length - 1))
    statuses[item], outputs[item] = status, output
    numbers[item] = string.pack(">I4", number)
    incompletes[item] = status == "R" and "\xFF" or "\0"
    place = place + length
  end
  return "A" .. table.concat(statuses) .. table.concat(numbers) .. ("\0"):rep(count)
    .. table.concat(incompletes) .. table.concat(outputs)
end

local function respond(body)
  local operation, inner = body:sub(1, 1), body:sub(2, 2)
  if operation == "P" then return "A" .. body:sub(2) end
  if operation == "B" and operations[inner] then return batch(operations[inner], body:sub(3)) end
  local run = operations[operation]
  if not run then return "U" end
  local status, number, output = run(body:sub(2))
  return status == "R" and "R" .. string.pack(">I4", number) or status .. output
end

io.stdout:setvbuf("full")
io.write('{"overlong": 1, "name": "lua-utf8', lax and "-lax" or "", '", "version": "', _VERSION,
  '", "language": "Lua", "operations": "PBVDE", "units": "utf-32", "encode_errors": "fatal"}\n')
io.flush()
while true do
  local head = io.read(8)
  if not head or #head < 8 then break end
  local length = string.unpack(">I4", head)
  local body = io.read(length - 4)
  local response = respond(body)
  io.write(string.pack(">I4", 4 + #response), head:sub(5), response)
  io.flush()
end
