-- Raises a floor.
-- KEYS: the floor
-- ARGV: the token
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then
	redis.call('SET', KEYS[1], ARGV[1])
end
return redis.status_reply('OK')
