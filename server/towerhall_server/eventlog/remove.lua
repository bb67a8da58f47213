-- Ends a room: everything of it goes together, and only if its log is still where the caller saw it.
--
-- KEYS  log, cmd, chat, secret, due, lobby
-- ARGV  1 room   2 seq   3 chain   4 channel of the lobby
-- Returns {'OK'}, {'GONE'} or {'CONFLICT', seq, chain}

local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if newest then
  local seq, chain = tonumber(string.match(newest[1], '^(%d+)')), nil
  for i = 1, #newest[2], 2 do
    if newest[2][i] == 'c' then chain = newest[2][i + 1] end
  end
  if seq ~= tonumber(ARGV[2]) or chain ~= ARGV[3] then return {'CONFLICT', seq, chain} end
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
redis.call('ZREM', KEYS[5], ARGV[1])
if redis.call('HDEL', KEYS[6], ARGV[1]) == 1 then
  redis.call('PUBLISH', ARGV[4], ARGV[1] .. ' ')
end
return {newest and 'OK' or 'GONE'}
