-- Erases a person. Number and ratings stay for some weeks under a handle that leads to nobody: the
-- ratings of others may still be computed from them.
--
-- KEYS  who, sums, past, met, friends, asking, blocks, blockers (all of one slot)
-- ARGV  1 ms for which the rating stays

local kept = {}
local found = redis.call('HGETALL', KEYS[2])
for i = 1, #found, 2 do
  if found[i] == 'at' or found[i] == 'generation' or string.sub(found[i], 1, 7) == 'rating ' then
    kept[#kept + 1] = found[i]
    kept[#kept + 1] = found[i + 1]
  end
end
redis.call('DEL', unpack(KEYS))
if #kept > 0 then
  redis.call('HSET', KEYS[2], unpack(kept))
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
return 1
