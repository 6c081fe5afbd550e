# A client of `tenure serve` on the same host, for scripts in bash 4.4 or later, on Linux, with curl. Source it.
#
#   tenure_campaign http://localhost:8732 nightly "$HOSTNAME"
#   until tenure_trusted; do tenure_listen 1; done
#   while tenure_trusted; do step "$tenure_token"; done     # each step shorter than a second
#   tenure_resign
#
# A campaign is for one term; to lead again, campaign again.
#
# shellcheck shell=bash

# tenure_campaign URL ELECTION ID [CONFIRM_MS] stands in an election, until tenure_resign or the end of the script. A
# script that does not ask tenure_trusted for CONFIRM_MS while it leads, because it hangs or was frozen, loses its term:
# 2000 if not given, 100 to the sidecar's TTL.
tenure_campaign() {
	tenure_url=$1/v1/elections/$2
	tenure_confirm_ms=${4:-2000}
	tenure_token=0   # the fencing token, once it leads: pass it on to whatever the script changes
	tenure_over=     # why the campaign is over
	tenure_until=0   # until when it may act, in milliseconds since the boot
	tenure_secret=   # the name of the campaign, which nobody else knows
	tenure_part=     # of a line that has not been read to its end
	tenure_confirmed=0
	# The stream is a pipe from curl. If the script is killed, curl fails to write the next event, and ends too.
	exec {tenure_stream}< <(exec curl -sSNf -X POST -H "Content-Type: application/json" \
		-d "{\"id\":\"$3\",\"confirm_within_ms\":$tenure_confirm_ms}" "$tenure_url/campaign")
	tenure_curl=$!
}

# tenure_listen SECONDS hears what the sidecar has said, and waits for that long at most if it has said nothing.
#
# Lines are not left to read: if its time is over at the very end of a line, it takes the line's end out of the stream,
# and says that there was none. It keeps all else that it takes, so newlines must be nothing special to it.
tenure_listen() {
	local first='' rest='' status=0
	IFS= read -r -N 1 -t "$1" first <&"$tenure_stream" || status=$?
	if [ -n "$first" ]; then
		status=0
		IFS= read -r -d '' -t 0.01 rest <&"$tenure_stream" || status=$?
	fi
	tenure_part+=$first$rest
	while [[ $tenure_part == *$'\n'* ]]; do
		tenure_hear "${tenure_part%%$'\n'*}"
		tenure_part=${tenure_part#*$'\n'}
	done
	if [ "$status" != 0 ] && [ "$status" -le 128 ]; then # not a timeout, but the end
		tenure_end "the stream has ended"
	fi
}

# tenure_trusted tells whether the script may act now. Ask right before each step. No message can stop a script that is
# frozen, so it is the clock that decides: that of /proc/uptime, which all processes of the host share.
tenure_trusted() {
	local answer now
	tenure_listen 0.01
	tenure_now
	if [ "$tenure_token" != 0 ] && [ $((now - tenure_confirmed)) -gt $((tenure_confirm_ms / 3)) ]; then
		tenure_confirmed=$now
		# If it fails, the trust goes on to count as long as it lasts.
		if answer=$(tenure_post "campaigns/$tenure_secret/confirm"); then tenure_hear "$answer"; fi
		tenure_now
	fi
	if [ "$tenure_token" != 0 ] && [ "$now" -ge "$tenure_until" ]; then
		tenure_end "its trust is over by the clock" # and stays over, whatever is read later
	fi
	[ -z "$tenure_over" ] && [ "$tenure_token" != 0 ]
}

# tenure_resign says that the work is done: the seat is free for others at once.
tenure_resign() {
	tenure_end "it has resigned"
	if [ -n "$tenure_secret" ]; then tenure_post "campaigns/$tenure_secret/resign" >/dev/null || true; fi
	kill "$tenure_curl" 2>/dev/null || true
	exec {tenure_stream}<&-
}

tenure_post() {
	curl -sSf --max-time 2 -X POST -H "Content-Type: application/json" "$tenure_url/$1"
}

# tenure_hear takes an event: JSON on one line, in which quotes within a string are escaped, so that these patterns fit
# fields alone.
tenure_hear() {
	if [[ $1 =~ \"campaign\":\"([A-Z0-9]+)\" ]]; then tenure_secret=${BASH_REMATCH[1]}; fi
	if [[ $1 =~ \"cause\":\"([a-z-]+)\" ]]; then tenure_end "the term has ended: ${BASH_REMATCH[1]}"; fi
	if [[ $1 == *'"leading":true'* && $1 =~ \"trust_until_boottime_ms\":([0-9]+) ]]; then
		tenure_until=${BASH_REMATCH[1]}
		if [[ $1 =~ \"token\":([0-9]+) ]]; then tenure_token=${BASH_REMATCH[1]}; fi
	fi
}

# tenure_end ends the trust for good, with the first reason that there is.
tenure_end() { tenure_over=${tenure_over:-$1}; }

# tenure_now sets now to the milliseconds since the boot. The file has hundredths, cut: so it may be one more already.
tenure_now() {
	local uptime
	read -r uptime _ </proc/uptime
	now=$((10#${uptime/./} * 10 + 10))
}
