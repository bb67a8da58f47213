-- Adds a line to a room's chat and publishes it. Chat is not part of the log: only the last lines are
-- kept, and they are removed with the room.
--
-- KEYS  log, chat (of one slot)
-- ARGV  room, PUBLISH or SPUBLISH, channel, text, ttl in ms
-- Returns the line's id, or nil if there is no such room

local MOST_LINES = 200
local log, chat = unpack(KEYS)
local room, publish, channel, text, ttl = unpack(ARGV)

if redis.call('EXISTS', log) == 0 then return false end
local id = redis.call('XADD', chat, 'MAXLEN', '=', MOST_LINES, '*', 'b', text)
redis.call('PEXPIRE', chat, ttl)
redis.call(publish, channel, cmsgpack.pack({room, id, text}))
return id
