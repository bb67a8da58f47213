-- Ends the wiping: boards are empty, and the first slip is next.
--
-- KEYS  place, then the boards (all of one slot)
-- ARGV  1 the new generation

if redis.call('HGET', KEYS[1], 'wiping') ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
redis.call('HDEL', KEYS[1], 'plan', 'wiping')
redis.call('HSET', KEYS[1], 'place', 0, 'generation', ARGV[1])
return 1
