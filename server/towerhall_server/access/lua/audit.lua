-- Appends an entry to a stream of the audit log, and drops entries that are too old or too many.
-- The store's clock decides their age: no server's clock can empty the log.
--
-- KEYS  stream, sources (id of the newest entry by source; of one slot)
-- ARGV  1 source   2 entry   3 most entries   4 ms that entries are kept
-- Returns the id of the entry

local stream, sources = unpack(KEYS)
local source, entry, most, kept = unpack(ARGV)
local id = redis.call('XADD', stream, 'MAXLEN', '~', most, '*', 'd', entry)
local oldest = tonumber(string.match(id, '^%d+')) - tonumber(kept)
redis.call('XTRIM', stream, 'MINID', '~', string.format('%.0f', oldest))
redis.call('HSET', sources, source, id)
return id
