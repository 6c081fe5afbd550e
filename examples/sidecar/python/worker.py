#!/usr/bin/env python3
"""Does a job that at most one process at a time may do, with the help of a sidecar: tenure serve --campaign jobs."""

import argparse
import os
import signal
import socket
import tempfile
import threading
import time

from tenure_client import Campaign, NotLeading


class Stale(Exception):
    """A newer leader has written to the ledger."""


class Ledger:
    """Stands for whatever the work changes, and refuses the token of a deposed leader by itself.

    It is a directory with a numbered file for each entry. Whoever writes has read all entries before its own; if a
    newer leader has written meanwhile, the number is taken. The package ledger of these examples does the same in Go.
    """

    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self._directory, self._next, self._mark = directory, 1, 0

    def append(self, token, by, text):
        draft, name = tempfile.mkstemp(prefix="draft-", dir=self._directory)
        try:
            with os.fdopen(draft, "w") as file:
                file.write(f"{token} {by} {text}\n")
            while not self._link(name, token):
                pass
        finally:
            os.unlink(name)

    def _link(self, draft, token):
        self._catch_up()
        if token < self._mark:
            raise Stale(f"token {token} comes after {self._mark}")
        try:
            os.link(draft, self._path())  # appears whole or not at all, and never replaces a file
        except FileExistsError:
            return False
        return True

    def _catch_up(self):
        while True:
            try:
                with open(self._path()) as file:
                    self._mark = max(self._mark, int(file.read().split(" ", 1)[0]))
            except FileNotFoundError:
                return
            self._next += 1

    def _path(self):
        return os.path.join(self._directory, f"{self._next:08d}")


def lead(campaign, options, stopping):
    """Waits for a term, and works in steps for as long as it lasts."""
    while not stopping.is_set() and not campaign.wait(0.2):
        pass
    ledger = Ledger(options.ledger)
    step = 0
    while not stopping.wait(options.every):
        campaign.check()
        step += 1
        ledger.append(campaign.token, options.id, f"step {step}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sidecar", default="http://localhost:8732", help="URL of tenure serve on this host")
    parser.add_argument("--election", default="jobs")
    parser.add_argument("--id", default=f"{socket.gethostname()}-{os.getpid()}", help="name of this worker")
    parser.add_argument("--ledger", default=os.path.join(tempfile.gettempdir(), "tenure-python"), help="directory")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between the steps of the work")
    options = parser.parse_args()

    # A step is never cut in the middle: the signal is noticed between two.
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    while not stopping.is_set():
        try:
            with Campaign(options.sidecar, options.election, options.id) as campaign:
                print("standing by", flush=True)
                lead(campaign, options, stopping)
        except (NotLeading, Stale) as reason:
            print("stopped working:", reason, flush=True)
        except OSError as error:
            print("the sidecar is away:", error, flush=True)
        stopping.wait(0.2)
    print("stopped, and the seat is given back", flush=True)


if __name__ == "__main__":
    main()
