-- Notes that a room has pending deliveries. A node that delivers for that room right now, or waits to
-- retry, looks again when that is done.
--
-- KEYS  rooms (by the time of the next look), busy (by claim), news (all of one slot)
-- ARGV  1 room

local rooms, busy, news = unpack(KEYS)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

if redis.call('HEXISTS', busy, ARGV[1]) == 1 then
  redis.call('SADD', news, ARGV[1])
else
  redis.call('ZADD', rooms, string.format('%.0f', now), ARGV[1])
end
return 1
