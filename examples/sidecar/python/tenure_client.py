"""A client of `tenure serve`, for programs that stand in an election. It needs Python 3.8 and its standard library.

    with Campaign("http://localhost:8732", "jobs", "worker-1") as campaign:
        while not campaign.wait(1):
            pass                        # somebody else leads
        for job in jobs:
            campaign.check()            # before each step; raises NotLeading
            do(job, campaign.token)     # what the job changes should refuse a lower token

A campaign is for one term; to lead again, campaign again. Leaving the with block says that the work is done, and the
seat is free for others at once.

No message can stop a process that is frozen. So a campaign trusts nothing but the clock: each event of the sidecar says
until when this process may act, and check compares. That clock is the one that all processes of the host share and that
counts the time of a suspension, CLOCK_BOOTTIME of Linux; elsewhere it is the wall clock, which must not be set back.
The sidecar has to run on the same host.
"""

import datetime
import http.client
import json
import socket
import threading
import time
import urllib.parse


class NotLeading(Exception):
    """This process does not lead, or not any more: the work has to stop."""


class Refused(Exception):
    """The sidecar refuses the campaign, and will refuse the next one too."""


class Campaign:
    """One candidacy, for one term at most. Its methods are for one thread, the one that does the work.

    confirm_within is for how many seconds that thread may be silent while it leads. It speaks to the sidecar whenever
    check is called, so call check more often than three times in that span. A client that hangs or is frozen loses its
    term after that time, and the others need not wait for ever. It is 0.1 to the sidecar's TTL.
    """

    def __init__(self, url, election, candidate, confirm_within=2.0):
        parts = urllib.parse.urlsplit(url)
        self._address = (parts.hostname, parts.port or 8732)
        self._path = "/v1/elections/" + urllib.parse.quote(election, safe="")
        self._candidate = candidate
        self._within = confirm_within
        self._changed = threading.Condition()
        # What the sidecar has said, guarded by the condition:
        self._secret = None  # the name of the campaign, which nobody else knows
        self._token = 0
        self._until = 0.0  # until when this process may act, in milliseconds of _now
        self._over = None  # why the campaign is over
        # Of the working thread alone:
        self._confirmed = 0.0

    def __enter__(self):
        body = {"id": self._candidate, "confirm_within_ms": int(self._within * 1000)}
        # The sidecar speaks every 15 s at least. One that does not has hung.
        self._connection = http.client.HTTPConnection(*self._address, timeout=30)
        try:
            response = _post(self._connection, self._path + "/campaign", body)
        except BaseException:
            self._connection.close()
            raise
        self._socket = self._connection.sock
        self._reader = threading.Thread(target=self._read, args=(response,), daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_):
        with self._changed:
            secret, self._until = self._secret, 0.0
            self._over = self._over or "the campaign was left"
        try:
            if secret:
                self._ask(secret, "resign")
        except (OSError, Refused):
            pass  # the end of the stream says the same, if with a delay
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # which ends the reader, unlike close
        except OSError:
            pass  # it has ended
        self._reader.join()
        self._connection.close()

    @property
    def token(self):
        """The fencing token of the term, 0 before there is one. Pass it on to whatever the work changes."""
        with self._changed:
            return self._token

    def wait(self, timeout):
        """Waits for up to timeout seconds to lead, and tells whether it does. Raises NotLeading if it never will."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._token, timeout)
            if self._over:
                raise NotLeading(self._over)
            return self._token > 0

    def check(self):
        """Raises NotLeading unless this process may act now. Call it right before each step of the work."""
        self._check_clock()
        if _now() - self._confirmed > self._within * 1000 / 3:
            self._confirm()
            self._check_clock()

    def _check_clock(self):
        with self._changed:
            if self._over or not self._token:
                raise NotLeading(self._over or "it has not been elected")
            if _now() >= self._until:
                self._over = "its trust is over by the clock"  # and stays over, whatever is read later
                raise NotLeading(self._over)

    def _confirm(self):
        """Says that the working thread is alive. If that fails, the trust goes on to count as long as it lasts."""
        self._confirmed = _now()
        try:
            self._hear(self._ask(self._secret, "confirm"))
        except Refused as refused:
            self._end(str(refused))
        except OSError:
            pass

    def _ask(self, secret, what):
        connection = http.client.HTTPConnection(*self._address, timeout=self._within)
        try:
            with _post(connection, f"{self._path}/campaigns/{secret}/{what}", {}) as response:
                return json.loads(response.read() or "{}")
        except ValueError as error:
            raise OSError(f"the sidecar's answer is no JSON: {error}") from error
        finally:
            connection.close()

    def _read(self, response):
        """Hears the events of the stream, in a thread of its own, until it ends."""
        try:
            for line in response:
                self._hear(json.loads(line))
            self._end("the sidecar has ended the stream")
        except Exception as error:  # whatever it is, nothing more will be heard
            self._end(f"the stream is broken: {error!r}")

    def _hear(self, event):
        with self._changed:
            self._secret = event.get("campaign", self._secret)
            if event.get("event") == "ended":
                self._over = self._over or f"its term has ended: {event.get('cause')}"
            elif event.get("leading"):
                self._token = event["token"]
                self._until = max(self._until, _until(event))
            self._changed.notify_all()

    def _end(self, why):
        with self._changed:
            self._over = self._over or why
            self._changed.notify_all()


def _post(connection, path, body):
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status < 300:
            return response
        text = f"{response.status}: {response.read(4096).decode(errors='replace').strip()}"
    except http.client.HTTPException as error:
        raise OSError(f"the sidecar does not speak HTTP: {error!r}") from error
    if response.status >= 500:
        raise OSError(text)
    raise Refused(text)


if hasattr(time, "CLOCK_BOOTTIME"):

    def _now():
        return time.clock_gettime(time.CLOCK_BOOTTIME) * 1000

    def _until(event):
        return event["trust_until_boottime_ms"]

else:

    def _now():
        return time.time() * 1000

    def _until(event):
        return datetime.datetime.fromisoformat(event["trust_until"].replace("Z", "+00:00")).timestamp() * 1000
