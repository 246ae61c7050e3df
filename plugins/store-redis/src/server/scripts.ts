/** A Lua script. `KEYS[1]` is the beginning of every key of the store, `ARGV` what each script says. */
export interface Script {
  readonly name: string;
  readonly text: string;
}

/** The fields of the hash of a dispatch, in the order in which scripts return them, before the time that its lease has left. */
export const rowFields = [
  ...['number', 'written', 'started', 'status', 'sum', 'envelope'],
  ...['writer', 'owner', 'epoch', 'length', 'tail', 'last', 'losses'],
] as const;

/**
 * What the scripts share. A server that stops a script in between rolls nothing back. So each script checks first, then publishes, which a user
 * without the right to the channel may not, and then writes. Its writes cannot fail: their keys have one type, and a server without
 * memory refuses the first write.
 */
const shared = `
local base = KEYS[1]
local call = redis.call

local function rowKey(name) return base .. 'd:' .. name end
local function id(number) return string.format('%d-0', number) end
local function whole(number) return string.format('%d', number) end
local function split(name) return name:match('^(.*)/([^/]*)$') end

local function publish(token, name) call('PUBLISH', base .. 'changes', token .. ' ' .. name) end

local function leaseLeft(writer)
  if not writer or writer == '' then return -2 end
  return call('PTTL', base .. 'o:' .. writer)
end

local function readRow(name)
  local row = call('HMGET', rowKey(name), '${rowFields.join("', '")}')
  if not row[1] then return false end
  row[${rowFields.length + 1}] = leaseLeft(row[7])
  return row
end

-- Milliseconds for which the server runs. A lease that ended before could not be renewed.
local function upFor()
  local info = redis.pcall('INFO', 'server')
  if type(info) ~= 'string' then return 1e12 end
  return 1000 * tonumber(info:match('uptime_in_seconds:(%d+)') or '1e9')
end

-- The milliseconds for which a claim of another opening is not free; 0 if it is.
local function refusedFor(row, token, dead)
  local writer = row[7]
  if not writer or writer == '' or writer == token or writer == dead then return 0 end
  if row[${rowFields.length + 1}] ~= -2 then return math.max(1, row[${rowFields.length + 1}]) end
  local lease = tonumber((row[8] or ''):match('"leaseMs":(%d+)') or '0')
  return math.max(0, lease + 1000 - upFor())
end

local function member(started, name)
  local task, dispatch = split(name)
  return started .. '\\0' .. task .. '\\0' .. dispatch, started .. '\\0' .. dispatch, task
end

local function listOf(task)
  if task:sub(1, 9) == '_hansard/' then return base .. 'li' end
  return base .. 'l'
end

local function index(name, started)
  local all, ofTask, task = member(started, name)
  call('ZADD', listOf(task), 0, all)
  call('ZADD', base .. 't:' .. task, 0, ofTask)
  call('ZADD', base .. 'tasks', 0, task)
end

local function unindex(name, started)
  local all, ofTask, task = member(started, name)
  call('ZREM', listOf(task), all)
  call('ZREM', base .. 't:' .. task, ofTask)
end

local function newer(version)
  local found = call('HGET', base .. 'meta', 'version')
  return found and tonumber(found) > tonumber(version)
end

local function addEvents(number, position, from)
  local events, ids = base .. 'e:' .. number, base .. 'i:' .. number
  for at = from, #ARGV, 3 do
    position = position + 1
    call('XADD', events, id(position), 'c', ARGV[at], 'i', ARGV[at + 1], 'l', ARGV[at + 2])
    call('HSET', ids, ARGV[at + 1], whole(position - 1))
  end
  return position
end
`;

function script(name: string, body: string): Script {
  return { name, text: `${shared}\n${body}` };
}

/** ARGV: version, token, lease, its time to live, name, started, status, sum, envelope, whether it runs (1 or 0). */
const create = script(
  'create',
  `
local key, name, token = rowKey(ARGV[5]), ARGV[5], ARGV[2]
if newer(ARGV[1]) then return {'newer'} end
if call('EXISTS', key) == 1 then return {'exists'} end
publish(token, name)
call('HSETNX', base .. 'meta', 'version', ARGV[1])
local number = whole(call('HINCRBY', base .. 'meta', 'next', 1))
call('HSET', key, 'number', number, 'written', name, 'started', ARGV[6], 'status', ARGV[7], 'sum', ARGV[8],
  'envelope', ARGV[9], 'epoch', ARGV[10], 'length', '0', 'writer', '')
if ARGV[10] == '1' then
  call('SET', base .. 'o:' .. token, ARGV[3], 'PX', ARGV[4])
  call('HSET', key, 'writer', token, 'owner', ARGV[3])
end
index(name, ARGV[6])
return {'ok'}`,
);

/** ARGV: version, token, lease, its time to live, name, the token of an opening whose process has exited. */
const claim = script(
  'claim',
  `
local name, token = ARGV[5], ARGV[2]
if newer(ARGV[1]) then return {'newer'} end
local row = readRow(name)
if not row then return {'missing'} end
local refused = refusedFor(row, token, ARGV[6])
if refused > 0 then return {'locked', whole(refused), row} end
call('SET', base .. 'o:' .. token, ARGV[3], 'PX', ARGV[4])
if row[7] == token then return {'ok', row[9], row} end
local epoch = whole(call('HINCRBY', rowKey(name), 'epoch', 1))
call('HSET', rowKey(name), 'writer', token, 'owner', ARGV[3])
return {'ok', epoch, row}`,
);

/** ARGV: token, names. */
const release = script(
  'release',
  `
for at = 2, #ARGV do
  local key = rowKey(ARGV[at])
  if call('HGET', key, 'writer') == ARGV[1] then call('HSET', key, 'writer', '') end
end
return {'ok'}`,
);

/** ARGV: token, name. Ends the claim of another opening. */
const breakClaim = script(
  'breakClaim',
  `
local writer = call('HGET', rowKey(ARGV[2]), 'writer')
if not writer then return {'missing'} end
if writer ~= '' and writer ~= ARGV[1] then call('HSET', rowKey(ARGV[2]), 'writer', '') end
return {'ok'}`,
);

/** ARGV: names. The row of each, or nothing. */
const rows = script(
  'rows',
  `
local found = {}
for at = 1, #ARGV do found[at] = readRow(ARGV[at]) end
return found`,
);

/** ARGV: token, name, started, status, sum, envelope. */
const setEnvelope = script(
  'setEnvelope',
  `
local token, name = ARGV[1], ARGV[2]
local row = call('HMGET', rowKey(name), 'writer', 'started')
if not row[1] then return {'missing'} end
if row[1] ~= token then return {'locked'} end
publish(token, name)
call('HSET', rowKey(name), 'started', ARGV[3], 'status', ARGV[4], 'sum', ARGV[5], 'envelope', ARGV[6])
if row[2] ~= ARGV[3] then
  unindex(name, row[2])
  index(name, ARGV[3])
end
return {'ok'}`,
);

/** ARGV: token, name, number, epoch, length, tail, time of the last event, then checksum, id and line of each event. */
const append = script(
  'append',
  `
local token, name = ARGV[1], ARGV[2]
local row = call('HMGET', rowKey(name), 'number', 'writer', 'epoch', 'length', 'tail')
if row[1] ~= ARGV[3] or row[2] ~= token or row[3] ~= ARGV[4] or row[4] ~= ARGV[5] or (row[5] or '') ~= ARGV[6] then
  return {'changed'}
end
if call('XLEN', base .. 'e:' .. row[1]) ~= tonumber(row[4]) then return {'changed'} end
for at = 9, #ARGV, 3 do
  if call('HEXISTS', base .. 'i:' .. row[1], ARGV[at]) == 1 then return {'exists'} end
end
publish(token, name)
local length = addEvents(row[1], tonumber(row[4]), 8)
call('HSET', rowKey(name), 'length', whole(length), 'tail', ARGV[#ARGV - 2], 'last', ARGV[7])
return {'ok'}`,
);

/** ARGV: number, ids. The position and the line of each stored one, or nothing. */
const find = script(
  'find',
  `
local found = {}
for at = 2, #ARGV do
  local position = call('HGET', base .. 'i:' .. ARGV[1], ARGV[at])
  found[at - 1] = false
  if position then
    local place = id(tonumber(position) + 1)
    local entry = call('XRANGE', base .. 'e:' .. ARGV[1], place, place)[1]
    found[at - 1] = {position, entry and entry[2][6] or ''}
  end
end
return found`,
);

/**
 * ARGV: number, first, end, bytes. Entries from a position to before another one, until their lines have more than these bytes. Read in parts, because a script
 * holds each part in memory.
 */
const entries = `
local function entriesOf(number, first, stop, most)
  local found, bytes, from, part = {}, 0, first + 1, 1
  while from <= stop do
    local got = call('XRANGE', base .. 'e:' .. number, id(from), id(stop), 'COUNT', part)
    if #got == 0 then return found, true end
    local size = 0
    for _, entry in ipairs(got) do
      local place = tonumber(entry[1]:match('^%d+'))
      local line = entry[2][6] or ''
      size = size + #line
      if #found > 0 and bytes + size > most then return found, false end
      found[#found + 1] = {whole(place - 1), entry[2][2] or '', entry[2][4] or '', line}
      from = place + 1
    end
    bytes = bytes + size
    part = math.max(1, math.min(500, 8 * part, math.floor(1000000 / (size / #got + 1))))
  end
  return found, true
end
`;

/** ARGV: name, 'after' or 'last', the first position or how many, the limit, the most bytes. */
const page = script(
  'page',
  `${entries}
local row = call('HMGET', rowKey(ARGV[1]), 'number', 'written', 'length')
if not row[1] then return {'missing'} end
local length = tonumber(row[3])
local first, stop = tonumber(ARGV[3]), length
if ARGV[2] == 'last' then first = math.max(0, length - first)
else stop = math.min(length, first + tonumber(ARGV[4])) end
local before = ''
if first > 0 then
  local entry = call('XRANGE', base .. 'e:' .. row[1], id(first), id(first))[1]
  before = entry and entry[2][2] or ''
end
local found = entriesOf(row[1], first, stop, tonumber(ARGV[5]))
return {'ok', row[1], row[2], row[3], whole(call('XLEN', base .. 'e:' .. row[1])), before, found}`,
);

/** ARGV: number, first, limit, the most bytes. Whatever the stream has from there on. */
const scan = script(
  'scan',
  `${entries}
local found, isEnd = entriesOf(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[2]) + tonumber(ARGV[3]), tonumber(ARGV[4]))
if isEnd and #found > 0 then
  local after = id(tonumber(found[#found][1]) + 2)
  isEnd = #call('XRANGE', base .. 'e:' .. ARGV[1], after, '+', 'COUNT', 1) == 0
elseif isEnd then
  local after = call('XRANGE', base .. 'e:' .. ARGV[1], id(tonumber(ARGV[2]) + 1), '+', 'COUNT', 1)
  isEnd = #after == 0
  if not isEnd then found = entriesOf(ARGV[1], tonumber(after[1][1]:match('^%d+')) - 1, 9007199254740000, 1) end
end
return {isEnd and '1' or '0', found}`,
);

/** ARGV: token, name, epoch, number ('' begins a new one), length, then checksum, id and line of each event. Fills a number that no dispatch has yet. */
const stage = script(
  'stage',
  `
local token, name, number = ARGV[1], ARGV[2], ARGV[4]
local row = call('HMGET', rowKey(name), 'writer', 'epoch')
if row[1] ~= token or row[2] ~= ARGV[3] then return {'locked'} end
if number == '' then
  number = whole(call('HINCRBY', base .. 'meta', 'next', 1))
  call('HSET', base .. 'g', number, token .. ' ' .. name)
elseif call('HEXISTS', base .. 'g', number) == 0 then return {'locked'} end
addEvents(number, tonumber(ARGV[5]), 6)
return {'ok', number}`,
);

/** ARGV: numbers. Removes what was staged below them. A number that has become that of a dispatch is not among the staged ones. */
const unstage = script(
  'unstage',
  `
for _, number in ipairs(ARGV) do
  if call('HDEL', base .. 'g', number) == 1 then
    call('UNLINK', base .. 'e:' .. number, base .. 'i:' .. number)
  end
end
return {'ok'}`,
);

/**
 * ARGV: token, name, epoch, number, length, tail, time of the last event, whether it has one (1 or 0), started, status, sum, envelope,
 * the verification of the old number ('' removes it). Puts a dispatch under a staged number and the name of its place.
 */
const switchTo = script(
  'switchTo',
  `
local token, name, number = ARGV[1], ARGV[2], ARGV[4]
local key = rowKey(name)
local row = call('HMGET', key, 'writer', 'epoch', 'number', 'started', 'losses')
if row[1] ~= token or row[2] ~= ARGV[3] then return {'locked'} end
if call('HEXISTS', base .. 'g', number) == 0 or call('XLEN', base .. 'e:' .. number) ~= tonumber(ARGV[5]) then return {'locked'} end
publish(token, name)
call('HSET', key, 'number', number, 'written', name, 'length', ARGV[5], 'tail', ARGV[6], 'started', ARGV[9],
  'status', ARGV[10], 'sum', ARGV[11], 'envelope', ARGV[12])
if ARGV[8] == '1' then call('HSET', key, 'last', ARGV[7]) else call('HDEL', key, 'last') end
unindex(name, row[4])
index(name, ARGV[9])
call('HDEL', base .. 'g', number)
if ARGV[13] == '' then
  call('UNLINK', base .. 'e:' .. row[3], base .. 'i:' .. row[3])
else
  call('HSET', base .. 'x', row[3], ARGV[13])
  call('HSET', key, 'losses', (row[5] and row[5] .. ',' or '') .. row[3])
  call('UNLINK', base .. 'i:' .. row[3])
end
return {'ok'}`,
);

/** ARGV: token, name, the token of an opening whose process has exited. */
const remove = script(
  'remove',
  `
local name, token = ARGV[2], ARGV[1]
local row = readRow(name)
if not row then return {'missing'} end
if row[2] ~= name then return {'misplaced', '0', row} end
local refused = refusedFor(row, token, ARGV[3])
if refused > 0 then return {'locked', whole(refused), row} end
publish(token, name)
unindex(name, row[3])
local task = split(name)
if call('ZCARD', base .. 't:' .. task) == 0 and call('EXISTS', base .. 'k:' .. task) == 0 then
  call('ZREM', base .. 'tasks', task)
end
call('UNLINK', base .. 'e:' .. row[1], base .. 'i:' .. row[1])
for number in (row[13] or ''):gmatch('%d+') do
  call('UNLINK', base .. 'e:' .. number)
  call('HDEL', base .. 'x', number)
end
call('UNLINK', rowKey(name))
return {'ok'}`,
);

/**
 * ARGV: the list, its task ('': each member has one), from, to, 1 for the reverse, how many rows, the statuses (',a,b,', '': any), the known
 * statuses, 1 for the rows that are whole or 0 for the others. Looks at some members, and returns the last of them, '' after the last one.
 */
const list = script(
  'list',
  `
local key, task = base .. ARGV[1], ARGV[2]
local members
if ARGV[5] == '1' then members = call('ZREVRANGEBYLEX', key, ARGV[4], ARGV[3], 'LIMIT', 0, 500)
else members = call('ZRANGEBYLEX', key, ARGV[3], ARGV[4], 'LIMIT', 0, 500) end
local found, wanted = {}, tonumber(ARGV[6])
for at, member in ipairs(members) do
  local started, name = member:match('^([^%z]*)%z(.*)$')
  if task ~= '' then name = task .. '/' .. name else name = name:gsub('%z', '/') end
  local row = readRow(name)
  local isWhole = row and row[2] == name and row[3] == started
    and redis.sha1hex(table.concat({row[2], row[3], row[4], row[6]}, '\\n')) == row[5]
  local isListed = (ARGV[9] == '1') == (isWhole or false)
  if isListed and isWhole and ARGV[7] ~= '' then
    local status = ',' .. row[4] .. ','
    isListed = ARGV[7]:find(status, 1, true) or not ARGV[8]:find(status, 1, true)
  end
  if isListed then
    found[#found + 1] = {name, row}
    if #found == wanted then return {member, found} end
  end
end
return {#members == 500 and members[500] or '', found}`,
);

/** ARGV: version, token, task, the sum that the record must have, sum, record. */
const putTask = script(
  'putTask',
  `
local key = base .. 'k:' .. ARGV[3]
if newer(ARGV[1]) then return {'newer'} end
local found = call('HGET', key, 'sum') or ''
if found ~= ARGV[4] and found ~= ARGV[5] then return {'changed'} end
publish(ARGV[2], ARGV[3] .. '/')
call('HSETNX', base .. 'meta', 'version', ARGV[1])
call('HSET', key, 'sum', ARGV[5], 'record', ARGV[6])
call('ZADD', base .. 'tasks', 0, ARGV[3])
return {'ok'}`,
);

/** ARGV: from. Some tasks with the sums and records of those that have one, and the last task, '' after the last one. */
const listTasks = script(
  'listTasks',
  `
local tasks = call('ZRANGEBYLEX', base .. 'tasks', ARGV[1], '+', 'LIMIT', 0, 500)
local found = {}
for at, task in ipairs(tasks) do
  local record = call('HMGET', base .. 'k:' .. task, 'sum', 'record')
  found[at] = {task, record[1], record[2]}
end
return {#tasks == 500 and tasks[500] or '', found}`,
);

export const scripts = {
  ...{ create, claim, release, breakClaim, rows, setEnvelope, append, find, page, scan, stage, unstage },
  ...{ switchTo, remove, list, putTask, listTasks },
} as const;
