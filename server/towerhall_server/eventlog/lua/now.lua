-- Returns the time of the engine that has a shard, in us. It reads and writes no key.
--
-- KEYS  any key of the shard: it leads to the engine whose time counts

local time = redis.call('TIME')
return tonumber(time[1]) * 1000000 + tonumber(time[2])
