-- Takes one token from each of several buckets, or from none of them. A bucket is one number, the
-- time at which it is full again; a full one is no key at all.
--
-- KEYS  buckets (of one slot)
-- ARGV  for each bucket: us until a token comes back, tokens at once
-- Returns 0, or the ms until all of them have a token

local function whole(number) return string.format('%.0f', number) end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local wait, full_at = 0, {}
for i, key in ipairs(KEYS) do
  local token, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  -- No bucket is emptier than empty. Otherwise a clock set back, or a raised rate, would lock
  -- clients out.
  local empty = now + token * burst
  local at = math.min(math.max(tonumber(redis.call('GET', key) or 0), now), empty)
  wait = math.max(wait, at - now - token * (burst - 1))
  full_at[i] = at + token
end
if wait > 0 then return math.ceil(wait / 1000) end
for i, key in ipairs(KEYS) do
  local ttl = math.ceil((full_at[i] - now) / 1000)
  redis.call('SET', key, whole(full_at[i]), 'PX', whole(ttl))
end
return 0
