-- Keeps a signed checkpoint of the public log, if the log is still the signed one.
--
-- KEYS  head
-- ARGV  size, root, checkpoint
-- Returns 1, or 0 if the log is another one by now

local found = redis.call('HMGET', KEYS[1], 'size', 'root')
if (found[1] or '0') ~= ARGV[1] or (found[2] or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'checkpoint', ARGV[3])
return 1
