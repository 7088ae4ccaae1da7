"""Take the episodes of Graphiti's server along, with the standard library alone.

Start `asof serve`, then run `python examples/move_from_graphiti.py OLD NEW GROUP...`: the addresses of both servers,
and the groups. Within a day it may be run again: what was taken along is not taken twice.
"""

import json
import re
import sys
from typing import Any
from urllib.request import Request, urlopen

SAID = re.compile(r"(?P<role>.*?)\((?P<role_type>user|assistant|system)\): (?P<content>.*)", re.DOTALL)


def message(episode: dict[str, Any]) -> dict[str, Any]:
    """Return what was sent to Graphiti, which keeps who said it within the content."""
    said = SAID.fullmatch(episode["content"])
    words = said.groupdict() if said else {"role_type": "system", "role": None, "content": episode["content"]}
    kept = {name: episode[name] for name in ("name", "source_description")}
    return {**words, **kept, "timestamp": episode["valid_at"]}


def main(old: str, new: str, *groups: str) -> None:
    for group in groups:
        with urlopen(f"{old}/episodes/{group}?last_n=1000000") as answer:
            episodes = json.load(answer)
        for episode in episodes:
            body = json.dumps({"group_id": group, "messages": [message(episode)]}).encode()
            headers = {"Content-Type": "application/json", "Idempotency-Key": episode["uuid"]}
            with urlopen(Request(f"{new}/messages", body, headers)) as answer:
                last = answer.headers["Asof-Position"]
        if episodes:  # wait until all is known
            urlopen(f"{new}/v1/messages/{last}?min_position={last}").close()
        print(f"{group}: {len(episodes)} episodes")


main(*sys.argv[1:])
