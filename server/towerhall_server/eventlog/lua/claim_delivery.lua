-- Leases rooms with pending deliveries to a node. When a lease expires, another node gets the room.
--
-- KEYS  rooms, busy, news, told (all of one slot)
-- ARGV  1 claim   2 ms of the lease   3 most rooms
-- Returns {room, what was told of it or '', room, ...}

local rooms, busy, news, told = unpack(KEYS)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local answer = {}
local due = redis.call('ZRANGEBYSCORE', rooms, '-inf', string.format('%.0f', now),
  'LIMIT', 0, tonumber(ARGV[3]))
for _, room in ipairs(due) do
  redis.call('ZADD', rooms, string.format('%.0f', now + tonumber(ARGV[2])), room)
  redis.call('HSET', busy, room, ARGV[1])
  redis.call('SREM', news, room)
  answer[#answer + 1] = room
  answer[#answer + 1] = redis.call('HGET', told, room) or ''
end
return answer
