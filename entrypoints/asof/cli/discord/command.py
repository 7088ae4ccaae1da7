"""The command that runs a bot on Discord: discord."""

from importlib.util import find_spec

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.operations.errors import InvalidInput
from asof.operations.process import install_command, log_to_stderr


@command()
def discord(call: Call) -> None:
    """Talk on Discord with those who opted in, until stopped."""
    if find_spec("discord") is None:
        raise InvalidInput(
            f"Discord needs discord.py, which is not installed. Get it with: {install_command('discord')}"
        )
    from asof.cli.discord.process import run

    settings = call.settings
    log_to_stderr(settings, "asof")

    def connected(name: str) -> None:
        if call.as_json:
            show.data({"bot": name, "data": str(settings.data.absolute())}, at_once=True)
        else:
            show.talk(f"connected to Discord as {name}; data in {settings.data.absolute()}")

    run(settings, connected)
