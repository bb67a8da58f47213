#!lua flags=allow-oom
-- Keeps the record of a finished game. A full store runs it too: without a record the log cannot be
-- removed, and the log needs more memory.
--
-- KEYS  record, owed
-- ARGV  1 data   2 ttl in ms, or '' for the rest of its present ttl
--       3 what the public log is owed for the room, or ''
-- Returns 1, or 0 if nothing is left

local ttl = ARGV[2]
if ttl == '' then ttl = redis.call('PTTL', KEYS[1]) end
if tonumber(ttl) <= 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ttl)
if ARGV[3] ~= '' then redis.call('SADD', KEYS[2], ARGV[3]) end
return 1
