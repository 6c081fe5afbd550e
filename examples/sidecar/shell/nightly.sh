#!/usr/bin/env bash
# Does the work of a night once, on one host, though cron starts it on all hosts at the same time:
#
#   0 3 * * *  /usr/local/bin/nightly.sh
#
# Each host needs a sidecar: tenure serve --campaign nightly. The work has steps. If the host that does them dies,
# another one goes on where the ledger ends; whoever finds that nothing is left ends, too.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source-path=SCRIPTDIR source=tenure-client.sh
source "$here/tenure-client.sh"

sidecar=${SIDECAR:-http://localhost:8732}
election=${ELECTION:-nightly}
id=${ID:-$(hostname)-$$}
ledger=${LEDGER:-${TMPDIR:-/tmp}/tenure-nightly}
night=${NIGHT:-$(date +%F)}
steps=${STEPS:-5}
pause=${PAUSE:-0.1}

# append NUMBER TEXT writes entry NUMBER of the ledger, which stands for whatever the work changes: a directory with a
# numbered file for each entry. It fails if the number is taken, which it is if a newer leader has written.
append() {
	local draft entry status=0
	draft=$(mktemp "$ledger/draft-XXXXXX") || exit
	printf '%s %s %s\n' "$tenure_token" "$id" "$2" >"$draft"
	printf -v entry '%s/%08d' "$ledger" "$1"
	ln "$draft" "$entry" || status=$?
	rm "$draft"
	return "$status"
}

# catch_up reads the ledger: number becomes the next free one, and step the first of this night that is left. It fails
# if an entry has a higher token than ours.
catch_up() {
	local entry token text
	while
		printf -v entry '%s/%08d' "$ledger" "$number"
		[ -e "$entry" ]
	do
		read -r token _ text <"$entry"
		if [ "$token" -gt "$tenure_token" ]; then return 1; fi
		if [[ $text == "$night step "* ]]; then step=$((${text##* } + 1)); fi
		number=$((number + 1))
	done
}

# work does what is left of the night, and fails if it may not go on.
work() {
	local number=1 step=1
	if ! catch_up; then
		tenure_end "a newer leader has written"
		return 1
	fi
	while [ "$step" -le "$steps" ] && [ -z "$stopping" ]; do
		tenure_trusted || return 1
		if ! append "$number" "$night step $step"; then
			tenure_end "entry $number is taken"
			return 1
		fi
		number=$((number + 1)) step=$((step + 1))
		sleep "$pause"
	done
}

# stand waits for a term, and works. It fails if the term was lost.
stand() {
	until tenure_trusted; do
		if [ -n "$stopping" ]; then return 0; fi
		if [ -n "$tenure_over" ]; then return 1; fi
		tenure_listen 0.2
	done
	work
}

# A step is never cut in the middle: the signal is noticed between two.
stopping=
trap stopping=yes TERM INT
mkdir -p "$ledger"
echo "standing by"
until
	tenure_campaign "$sidecar" "$election" "$id"
	finished=0
	stand || finished=$?
	tenure_resign
	[ "$finished" = 0 ]
do
	echo "stopped working: $tenure_over"
	sleep 0.2
done
if [ -n "$stopping" ]; then echo "stopped, and the seat is given back"; else echo "the night's work is done"; fi
