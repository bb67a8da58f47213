-- Gives a person a newer name. An erased person gets none.
--
-- KEYS  who
-- ARGV  1 name   2 wall ms of the name

local named = redis.call('HGET', KEYS[1], 'named')
if not named or tonumber(named) > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'name', ARGV[1], 'named', ARGV[2])
return 1
