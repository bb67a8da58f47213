-- Writes without a change, if a log holds an entry: then `WAIT` answers once replicas have the entry,
-- too. It confirms at once to those who have only read.
--
-- KEYS  log
-- ARGV  id in the stream, chain
-- Returns 1, or 0 if the entry is not there

local there = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
if not there or there[2][4] ~= ARGV[2] then return 0 end
local ttl = redis.call('PTTL', KEYS[1])
if ttl > 0 then redis.call('PEXPIRE', KEYS[1], ttl) end
return 1
