-- Removes a room with all its keys, if its log still ends where the caller saw it.
--
-- KEYS  log, cmd, chat, secret, due, lobby, ended, snapshots, owed
-- ARGV  1 room   2 seq   3 chain   4 channel of the lobby
--       5 ms after its newest commit in which a lost log may be restored: see `restore.lua`
--       6 ms for which a log that ends within that time is marked as ended
--       7 what the public log is owed for the room, or ''
-- Returns {'OK'}, {'GONE'} or {'CONFLICT', seq, chain}

local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local marked = false
if newest then
  local seq, fields = tonumber(string.match(newest[1], '^(%d+)')), {}
  for i = 1, #newest[2], 2 do fields[newest[2][i]] = newest[2][i + 1] end
  if seq ~= tonumber(ARGV[2]) or fields.c ~= ARGV[3] then return {'CONFLICT', seq, fields.c} end
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  marked = now - tonumber(fields.t) <= tonumber(ARGV[5])
end
redis.call('DEL', KEYS[8])
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if marked then redis.call('SET', KEYS[7], '', 'PX', ARGV[6]) end
redis.call('ZREM', KEYS[5], ARGV[1])
if redis.call('HDEL', KEYS[6], ARGV[1]) == 1 then
  redis.call('PUBLISH', ARGV[4], ARGV[1] .. ' ')
end
if newest and ARGV[7] ~= '' then redis.call('SADD', KEYS[9], ARGV[7]) end
return {newest and 'OK' or 'GONE'}
