-- Ends a batch: its boards, and the next place. Only the first consumer that ends it changes
-- anything.
--
-- KEYS  place, then the boards (all of one slot)
-- ARGV  1 place before the batch   2 generation   3 place after it
--       then for each board: the number of people, and for each of them points and handle
-- Returns whether the place was moved by this call

local at = redis.call('HMGET', KEYS[1], 'place', 'generation', 'wiping')
if (at[1] or '0') ~= ARGV[1] or (at[2] or '0') ~= ARGV[2] or at[3] then return 0 end
local next = 4
for i = 2, #KEYS do
  local last = next + 2 * tonumber(ARGV[next])
  for j = next + 1, last, 2 do redis.call('ZADD', KEYS[i], ARGV[j], ARGV[j + 1]) end
  next = last + 1
end
redis.call('HSET', KEYS[1], 'place', ARGV[3])
redis.call('HDEL', KEYS[1], 'plan')
return 1
