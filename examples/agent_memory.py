"""What one coding agent is told, another one recalls: agent_memory_v1 over HTTP, with the standard library alone.

Start `asof serve`, then run `python examples/agent_memory.py`, with the address if it is not http://localhost:8000.
"""

import json
import sys
from typing import Any
from urllib.request import Request, urlopen

URL = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000"


def ask(path: str, body: object = None) -> dict[str, Any]:
    """Post a body, or get what there is."""
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(URL + path, data, {"Content-Type": "application/json"})) as answer:
        return {**json.load(answer), "position": answer.headers.get("Asof-Position")}


def tell(group: str, texts: list[str], **choice: str) -> None:
    """Say some things, and wait until they are known."""
    messages = [{"role_type": "user", "role": "octocat", "content": text} for text in texts]
    first = ask("/messages", {"group_id": group, "messages": messages, **choice})["position"]
    last = int(first) + len(texts) - 1
    ask(f"/v1/messages/{last}?min_position={last}")


# Whoever uses the same login shares one memory, whatever the tool.
group = ask("/groups/resolve", {"scope": "user", "key": "github_login:octocat"})["group_id"]

# One tool names the schema; another wraps what it has to say, and the schema follows from that.
tell(
    group,
    [
        "I prefer ruff over black.",
        "Team Payments owns the billing service.",
        "The billing service depends on Redis.",
        "Tenant means one customer account.",
    ],
    schema_id="agent_memory_v1",
)
tell(group, ['<graphiti_episode kind="task">The release is blocked by the migration.</graphiti_episode>'])

for question in ("Who owns the billing service?", "What does tenant mean?", "What blocks the release?"):
    [fact, *_] = ask("/search", {"group_ids": [group], "query": question})["facts"]
    print(f"{question}  {fact['fact']}")
