"""What a model answered is read: what the user is shown, and when the bot is to speak first."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_agents.conversation.replies import ParsedReply, parse_reply


def structured(reply: object, minutes: object) -> str:
    return json.dumps({"reply": reply, "next_proactive_in_minutes": minutes})


@pytest.mark.parametrize(
    ("content", "text", "minutes"),
    [
        ("Hello.", "Hello.", None),
        ("Hello.\n\nNEXT_PROACTIVE_IN_MINUTES: 180\n", "Hello.", 180),
        ("Hello.\nnext_proactive_in_minutes = 5", "Hello.", 5),
        ("Hello.\n**NEXT_PROACTIVE_IN_MINUTES: 180**", "Hello.", 180),
        ("NEXT_PROACTIVE_IN_MINUTES: 3\nHello.\nNEXT_PROACTIVE_IN_MINUTES: 4", "Hello.", 4),
        ("Hello.\nNEXT_PROACTIVE_IN_MINUTES: soon", "Hello.", None),
        ("NEXT_PROACTIVE_IN_MINUTES: 180", "", 180),
        (structured("Hello.", 180), "Hello.", 180),
        (structured("Hello.", None), "Hello.", None),
        (structured("Hello.", "180"), "Hello.", None),
        (structured("Hello.", True), "Hello.", None),
        (structured("Hello.\nNEXT_PROACTIVE_IN_MINUTES: 9", None), "Hello.", 9),
        (f"```json\n{structured('Hello.', 7)}\n```", "Hello.", 7),
        (structured(None, 180), "", None),
        (structured("  \n", None), "", None),
        ('{"answer": "Hello."}', "", None),
        ('{"reply": "Hel', "Hel…", None),
        ('```json\n{ "reply" :\n"It is \\"so\\".\\nAnd \\', 'It is "so".\nAnd…', None),
        ('{"reply": "Caf\\u00e9 \\u00', "Café…", None),
        ('{"reply": "A party \\ud83c', "A party…", None),
        ('{"reply": "Hello.\\nNEXT_PROACTIVE_IN_MI', "Hello.", None),
        ("Hello.\nNEXT_PROACTIVE_IN_MI", "Hello.", None),
        ("Hello.\n**NEXT_", "Hello.", None),
        ("What is the next_value", "What is the next_value", None),
        ("The variable is called next_", "The variable is called next_", None),
        ("Call it `NEXT_PRO", "Call it `NEXT_PRO", None),
        ("Hello. **NEXT_PROACTIVE_I", "Hello.", None),
        ('{"reply": "Hello. NEXT_PROACTIVE', "Hello.", None),
        ('{"reply": "It is called next_', "It is called next_…", None),
        ('{"reply": "Hello.", "next_proactive_in_min', "Hello.", None),
        ('{"reply": "', "", None),
        ('{"reply": nul', "", None),
        ('{"reply": "' + "x" * 16_000, "x" * 15_999 + "…", None),
        ("", "", None),
        ("Hel\x00lo\x1b[31m.", "Hello[31m.", None),
    ],
)
def test_a_reply_is_read_in_both_forms(content: str, text: str, minutes: int | None) -> None:
    assert parse_reply(content) == ParsedReply(text, minutes)


@given(st.text(min_size=1), st.integers(1, 500))
def test_of_an_object_that_is_cut_short_the_user_is_shown_what_there_is(said: str, left_out: int) -> None:
    whole = structured(said, None)
    shown = parse_reply(whole[: max(len(whole) - left_out, 0)]).text.removesuffix("…")

    assert parse_reply(whole).text.startswith(shown)


@given(st.text(), st.text(), st.integers(0, 10**8))
def test_the_mark_is_never_shown(before: str, after: str, minutes: int) -> None:
    for content in (
        f"{before}\nNEXT_PROACTIVE_IN_MINUTES: {minutes}\n{after}",
        structured(f"{before} NEXT_PROACTIVE_IN_MINUTES: {minutes} {after}", minutes),
    ):
        assert "next_proactive_in_minutes" not in parse_reply(content).text.lower()
