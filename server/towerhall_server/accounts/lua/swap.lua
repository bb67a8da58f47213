-- Replaces a value, if nobody else did so first.
--
-- KEYS  value
-- ARGV  1 the value as it was read, or '' for none   2 the value to be, or '' for none
-- Returns 1 if the value is now that of argument 2, also after a repeated call; else 0

local now = redis.call('GET', KEYS[1]) or ''
if now == ARGV[2] then return 1 end
if now ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1
