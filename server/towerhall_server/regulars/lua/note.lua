-- Adds a slip to the journal, unless the end of that game is there already.
--
-- KEYS  journal, known, games (all of one slot)
-- ARGV  1 uid   2 slip   3 game   4 wall ms at which it is noted   5 ms for which a uid is known
-- Returns the number of the slip, or 0 if it was known

local journal, known, games = unpack(KEYS)
local uid, slip, game, now, most = unpack(ARGV)

if redis.call('ZSCORE', known, uid) then return 0 end
local newest = redis.call('XREVRANGE', journal, '+', '-', 'COUNT', 1)[1]
local number = 1
if newest then number = tonumber(string.match(newest[1], '^(%d+)')) + 1 end
redis.call('XADD', journal, string.format('%.0f-0', number), 's', slip)
redis.call('ZADD', known, now, uid)
redis.call('ZREMRANGEBYSCORE', known, '-inf', string.format('%.0f', tonumber(now) - tonumber(most)))
redis.call('SADD', games, game)
return number
