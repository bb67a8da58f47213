-- Removes what slips have made of one person, before all slips are applied again. The generation
-- that stays refuses a consumer that still works on a plan from before.
--
-- KEYS  who, sums, past, met (all of one slot)
-- ARGV  1 the new generation   2 ms for which an erased person's rating stays

local who, sums, past, met = unpack(KEYS)
local at = redis.call('HGET', sums, 'generation')
if tonumber(at or 0) >= tonumber(ARGV[1]) then return 0 end
redis.call('DEL', sums)
redis.call('DEL', past, met)
redis.call('HSET', sums, 'generation', ARGV[1])
if redis.call('EXISTS', who) == 0 then redis.call('PEXPIRE', sums, ARGV[2]) end
return 1
