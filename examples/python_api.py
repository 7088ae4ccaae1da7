"""A memory inside a Python program: one directory, no server. A fact ends, a fact is taken back, and each says why.

Run `python examples/python_api.py`.
"""

from tempfile import TemporaryDirectory

import asof

with TemporaryDirectory() as directory, asof.open(directory) as memory:
    memory.add("I live in Madrid.", role="Ana", timestamp="2024-01-10T09:00:00Z")
    memory.add("I moved to Berlin in March.", role="Ana", timestamp="2024-04-02T09:00:00Z")

    # The world changed: what was true in February stays true of February.
    for day in ("2024-02-01", "2024-05-01"):
        [fact] = memory.facts(about="Ana", relation="lives_in", valid_at=day)
        print(day, fact.object)

    # It was never so: what the wrong fact had ended goes on, and what we used to think can still be asked.
    believed = fact.created_at
    memory.retract(fact.uuid)
    [now] = memory.facts(about="Ana", relation="lives_in", valid_at="2024-05-01")
    [before] = memory.facts(about="Ana", relation="lives_in", valid_at="2024-05-01", known_at=believed)
    print("we know:", now.object)
    print("we thought:", before.object)
    print("because Ana said:", memory.why(before.uuid).evidence[0].quote)
