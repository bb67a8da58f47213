-- Keeps the plan of the next batch. If another consumer has planned it already, its plan holds: the
-- standings in it were read before anything of the batch was applied.
--
-- KEYS  place
-- ARGV  1 place before the batch   2 generation   3 plan
-- Returns the plan that holds, or '' if the place is another one by now

local at = redis.call('HMGET', KEYS[1], 'place', 'generation', 'plan', 'wiping')
if (at[1] or '0') ~= ARGV[1] or (at[2] or '0') ~= ARGV[2] or at[4] then return '' end
if at[3] then return at[3] end
redis.call('HSET', KEYS[1], 'plan', ARGV[3])
return ARGV[3]
