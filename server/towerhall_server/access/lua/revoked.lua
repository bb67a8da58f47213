-- Returns the revocations since a node has last asked.
--
-- KEYS  after (stamp by name), news (name by the stamp at which it was last changed; of one slot)
-- ARGV  1 the stamp of the newest change that the node knows
-- Returns {number of all names, name, its stamp, stamp of the change, name, ...}

local after, news = unpack(KEYS)
local found = redis.call('ZRANGEBYSCORE', news, '(' .. ARGV[1], '+inf', 'WITHSCORES')
local answer = {redis.call('HLEN', after)}
for place = 1, #found, 2 do
  answer[#answer + 1] = found[place]
  answer[#answer + 1] = redis.call('HGET', after, found[place]) or '0'
  answer[#answer + 1] = found[place + 1]
end
return answer
