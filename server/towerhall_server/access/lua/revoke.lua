-- Revokes all that was given to some names until now, or until an earlier stamp. Stamps are
-- milliseconds of the store's clock, each higher than all before it.
--
-- KEYS  after (stamp by name), news (name by the stamp at which it was last changed; of one slot)
-- ARGV  1 the stamp, or '' for a new one   2 ms that names are kept, or 0: for ever   3... names
-- Returns the stamp. Without names nothing is changed, and the stamp is a new one.

local KEYS_STAY = '^key '
local MOST_AT_ONCE = 1000
local after, news = unpack(KEYS)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local newest = redis.call('ZRANGE', news, -1, -1, 'WITHSCORES')
local new = math.max(now, tonumber(newest[2] or 0) + 1)
local stamp = tonumber(ARGV[1]) or new

for place = 3, #ARGV do
  local name = ARGV[place]
  if tonumber(redis.call('HGET', after, name) or 0) < stamp then
    redis.call('HSET', after, name, string.format('%.0f', stamp))
    redis.call('ZADD', news, string.format('%.0f', new), name)
  end
end

local keep = tonumber(ARGV[2])
if keep > 0 then
  local old = redis.call('ZRANGEBYSCORE', news, '-inf', string.format('%.0f', now - keep),
    'LIMIT', 0, MOST_AT_ONCE)
  for _, name in ipairs(old) do
    -- A key may stay in the settings for any time, so its revocation never expires.
    if not string.find(name, KEYS_STAY) then
      redis.call('HDEL', after, name)
      redis.call('ZREM', news, name)
    end
  end
end
return string.format('%.0f', stamp)
