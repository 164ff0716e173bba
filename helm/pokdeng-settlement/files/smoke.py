"""`helm test`: every worker is ready, shows its metrics, and the rules pay what they must. Standard library only."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time

HOST, PORT = os.environ["SMOKE_HOST"], int(os.environ["SMOKE_PORT"])
WORKERS = int(os.environ["SMOKE_WORKERS"])
WITHIN_S = float(os.environ.get("SMOKE_WITHIN_S", "120"))
EXAMPLE = ("--banker", "2h 4h", "--player", "5c 5c", "--bet", "player_1", "--stake", "100")
"""A pair of fives against the banker's six: 1:1, so 300 of the 200 taken (docs/rules.md)."""


def page(address: str, path: str) -> tuple[int, str]:
    """Status and text of a page; 0 and why where there is none."""
    asked = http.client.HTTPConnection(address, PORT, timeout=5)
    try:
        asked.request("GET", path)
        answer = asked.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return 0, repr(error)
    finally:
        asked.close()


def workers() -> list[str]:
    """The addresses of all workers, ready or not."""
    try:
        found = socket.getaddrinfo(HOST, PORT, type=socket.SOCK_STREAM)
    except socket.gaierror:
        return []
    return sorted({str(one[4][0]) for one in found})


def faults() -> list[str]:
    """What is wrong with the workers now."""
    there = workers()
    found = [f"{len(there)} workers have an address, {WORKERS} should"] if len(there) < WORKERS else []
    for address in there:
        status, said = page(address, "/health/ready")
        if status != http.client.OK:
            found.append(f"{address}: not ready: {said}")
            continue
        status, said = page(address, "/metrics")
        if status != http.client.OK or "pokdeng_build_info" not in said:
            found.append(f"{address}: no metrics: status {status}")
    return found


def main() -> int:
    """0 when all is well."""
    said = subprocess.run(["pokdeng", "explain", *EXAMPLE, "--json"], check=True, capture_output=True)  # noqa: S607 - the image's own
    returned = json.loads(said.stdout)["returned"]
    if returned != 300:  # noqa: PLR2004 - see EXAMPLE
        print(f"the rules return {returned} instead of 300")
        return 1
    deadline = time.monotonic() + WITHIN_S
    while found := faults():
        if time.monotonic() > deadline:
            print("\n".join(found))
            return 1
        time.sleep(1)
    print(f"{len(workers())} workers are ready")
    return 0


if __name__ == "__main__":
    sys.exit(main())
