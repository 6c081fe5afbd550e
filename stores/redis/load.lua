-- Reads a record.
-- KEYS: the record, and the floor of its bucket unless that is asked for apart
-- Returns: version and record; or nil and the floor if there is no record
local state = redis.call('HMGET', KEYS[1], 'version', 'record')
if state[1] and state[2] then
	return state
end
if redis.call('EXISTS', KEYS[1]) == 1 then
	return redis.error_reply('FOREIGN the hash has no version and record of an election')
end
return {false, KEYS[2] and redis.call('GET', KEYS[2]) or '0'}
