-- People who were given a seat and are not connected yet, by the time until which they may come.
-- It is the store's time, so nodes with different clocks agree.
--
-- KEYS  coming
-- ARGV  'expect', who, ms            they have this time from now on
--       'late', ms of the lease, most   leases expired notes: no other node gets them meanwhile
--       'settle', who, until          removes a note, unless a seat was given again since
-- Returns {who, until, who, until, ...} for 'late', else nothing

local coming = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function later(ms) return string.format('%.0f', now + tonumber(ms)) end

if ARGV[1] == 'expect' then
  redis.call('ZADD', coming, later(ARGV[3]), ARGV[2])
elseif ARGV[1] == 'settle' then
  if redis.call('ZSCORE', coming, ARGV[2]) == ARGV[3] then redis.call('ZREM', coming, ARGV[2]) end
else
  local answer, till = {}, later(ARGV[2])
  for _, who in ipairs(redis.call('ZRANGEBYSCORE', coming, '-inf', later(0), 'LIMIT', 0, tonumber(ARGV[3]))) do
    redis.call('ZADD', coming, till, who)
    answer[#answer + 1] = who
    answer[#answer + 1] = till
  end
  return answer
end
