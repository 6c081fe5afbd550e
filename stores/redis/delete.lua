-- Deletes a record if its version is still the expected one, and publishes that.
-- KEYS: the record, the floor and the set of names of its bucket
-- ARGV: expected version (empty: the record is gone, and its name shall follow), election, publishing command, channel
-- Returns: 1 if a record was deleted, otherwise 0
local expected, election, publish, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if expected == '' then
	if redis.call('EXISTS', KEYS[1]) == 0 then
		redis.call('SREM', KEYS[3], election)
	end
	return 0
end
if redis.call('HGET', KEYS[1], 'version') ~= expected then
	return 0
end
redis.call('DEL', KEYS[1])
redis.call('SREM', KEYS[3], election)
redis.call(publish, channel, '\n' .. (redis.call('GET', KEYS[2]) or '0'))
return 1
