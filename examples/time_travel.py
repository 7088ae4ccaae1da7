"""One question as of several moments, on both clocks, over HTTP and with the standard library alone.

Start `asof serve`, then run `python examples/time_travel.py`, with the address if it is not http://localhost:8000.
"""

import json
import sys
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000"


def say(text: str, timestamp: str) -> str:
    """Say something, and return its position."""
    message = {"content": text, "role_type": "user", "role": "Ana", "timestamp": timestamp}
    body = json.dumps({"group_id": "travel", "messages": [message]}).encode()
    with urlopen(Request(f"{URL}/messages", body, {"Content-Type": "application/json"})) as answer:
        position: str = answer.headers["Asof-Position"]
    return position


def home(**moment: str) -> dict[str, Any]:
    """Return the fact that says where Ana lives, as of a moment, once `min_position` is processed."""
    asked = urlencode({"group_id": "travel", "about": "Ana", "relation": "lives_in", **moment})
    with urlopen(f"{URL}/v1/facts?{asked}") as answer:
        facts: list[dict[str, Any]] = json.load(answer)["facts"]
    [fact] = facts
    return fact


position = say("I live in Madrid.", "2024-01-10T09:00:00Z")
then = home(min_position=position)["created_at"]  # when it came to be known
position = say("I moved to Berlin in March.", "2024-04-02T09:00:00Z")

print("now:", home(min_position=position)["object"])
print("in February 2024:", home(valid_at="2024-02-01")["object"])
print("in May 2024:", home(valid_at="2024-05-01")["object"])
print("in May 2024, as it was known at first:", home(valid_at="2024-05-01", known_at=then)["object"])
