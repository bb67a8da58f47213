-- Applies one slip to one person, once. A person who was erased gets a number and a rating only,
-- which later slips of the journal need, and both expire.
--
-- KEYS  who, sums, past, met (all of one slot)
-- ARGV  1 number   2 the person's slip before   3 generation   4 game   5 seats   6 place   7 score
--       8 rating, or ''   9 most entries of the history   10 most people met
--       11 ms for which an erased person's rating stays   then the handles of the others
-- Returns 1 if the person is there, 0 if they were erased, -1 if a slip before is missing. A slip that
-- was applied before, or that is of an older generation, changes nothing.

local who, sums, past, met = unpack(KEYS)
local number, before, generation, game, seats, place, score, rating, most_past, most_met, erased_ms
  = unpack(ARGV)

local at = redis.call('HMGET', sums, 'at', 'generation')
local living = redis.call('EXISTS', who)
if tonumber(at[2] or 0) > tonumber(generation) then return living end
if tonumber(at[1] or 0) >= tonumber(number) then return living end
if (at[1] or '0') ~= before then return -1 end

redis.call('HSET', sums, 'at', number)
if rating ~= '' then redis.call('HSET', sums, 'rating ' .. game, rating) end
if living == 0 then
  redis.call('PEXPIRE', sums, erased_ms)
  return 0
end
local table_ = game .. ' ' .. seats
redis.call('HINCRBY', sums, table_ .. ' ' .. place, 1)
redis.call('HINCRBY', sums, table_ .. ' sum', score)
local best = redis.call('HGET', sums, table_ .. ' best')
if not best or tonumber(score) > tonumber(best) then
  redis.call('HSET', sums, table_ .. ' best', score)
end
redis.call('LPUSH', past, number .. ' ' .. table_)
redis.call('LTRIM', past, 0, tonumber(most_past) - 1)
for i = 12, #ARGV do redis.call('ZADD', met, number, ARGV[i]) end
redis.call('ZREMRANGEBYRANK', met, 0, -1 - tonumber(most_met))
return 1
