-- Adds a person to a list of another one, which has an end.
--
-- KEYS  who, list (of one slot)
-- ARGV  1 handle   2 wall ms   3 most entries   4 'refuse' if the list is full, or 'forget' the oldest
-- Returns 1; 0 if the owner was erased, -1 if the list is full

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local known = redis.call('ZSCORE', KEYS[2], ARGV[1])
if known then return 1 end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
  if ARGV[4] == 'refuse' then return -1 end
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[3]))
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return 1
