"""The routes by which any platform talks with a memory: it tells what is said, and is answered what to do.

asof sends nothing by itself, to no address: answers come with the request, and check-ins when they are asked for.
"""

import time
from typing import Annotated

from fastapi import Depends, Request

from asof.http.routes.authorization import Writing, expect_own
from asof.http.routes.routers import v1_router
from asof.http.schemas import problems
from asof.http.schemas.conversation import (
    ConversationDue,
    ConversationIncoming,
    ConversationNoted,
    ConversationOutgoing,
    ConversationSent,
)
from asof.service.conversation import Conversation

router = v1_router("/v1/conversation", "v1")


async def _opened(request: Request) -> Conversation:
    conversation: Conversation = await request.app.state.conversation.opened()
    return conversation


Opened = Annotated[Conversation, Depends(_opened)]


@router.post("/incoming", responses=problems.OF_A_BODY)
async def incoming(given: ConversationIncoming, caller: Writing, conversation: Opened) -> ConversationOutgoing:
    """Take what a platform tells, durably, and return what to do: nothing, or an answer, given once.

    A message that is told again under its external id is answered only if it was not. Changes of a message that the
    group does not have are passed over.
    """
    expect_own(caller, given.group_id)
    return ConversationOutgoing.of(await conversation.take(given.incoming()))


@router.post("/sent", responses=problems.OF_A_BODY)
async def sent(given: ConversationSent, caller: Writing, conversation: Opened) -> ConversationNoted:
    """Note that the platform sent an answer: its text is a turn of the bot from then on. Told again it adds nothing."""
    expect_own(caller, given.group_id)
    return ConversationNoted(turn=await conversation.sent(given.outgoing(), given.external_id, given.at))


@router.post("/due", responses=problems.OF_A_BODY)
async def due(given: ConversationDue, caller: Writing, conversation: Opened) -> ConversationOutgoing:
    """Return the check-ins of a group that are to be sent now, each once: a platform asks again and again."""
    expect_own(caller, given.group_id)
    return ConversationOutgoing.of(await conversation.due(time.time_ns() // 1_000, given.group_id))
