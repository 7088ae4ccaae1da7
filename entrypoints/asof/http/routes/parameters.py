"""The parameters that routes have in common.

`min_position` gives read-your-writes: the answer waits until the message at that position, as POST /messages named it,
is processed.
"""

from typing import Annotated, Final

from fastapi import Depends, Query, Request

from asof.service.service import Service

FAR: Final = 2**53  # no log is as long
MinPosition = Annotated[
    int | None, Query(ge=0, le=FAR, description="Wait until this message is processed, up to 30 seconds.")
]


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Served = Annotated[Service, Depends(_service)]


async def _settled(served: Served, min_position: MinPosition = None) -> Service:
    if min_position is not None:
        await served.settled(min_position)
    return served


Read = Annotated[Service, Depends(_settled)]
