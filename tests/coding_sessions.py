"""Two coding sessions of thirty turns, and what an agent has to recall of them.

The rules were written with the first at hand. The second was written before them, and measures them: nothing is tuned
on it, and it says less than it could once somebody has read it for that.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Asked:
    """A question: words that the recalled facts have to hold, and words that they must not."""

    query: str
    expected: tuple[str, ...]
    absent: tuple[str, ...] = ()
    in_middle: bool = False  # as of the middle of the session, not of its end


@dataclass(frozen=True)
class Session:
    """Turns, each with the day on which it was said, of which the middle is a day between."""

    turns: tuple[tuple[str, str], ...]
    middle: str
    asked: tuple[Asked, ...]


FIRST: Final = Session(
    turns=(
        ("2026-02-02", "Always run make lint before committing."),
        ("2026-02-02", "Never edit the lock file."),
        ("2026-02-02", "The test command is `make test`."),
        ("2026-02-03", "Use tabs, not spaces."),
        ("2026-02-03", "We chose Postgres over MySQL because it has better JSON support."),
        ("2026-02-04", "Dana owns the billing service."),
        ("2026-02-04", "Omar owns the search service."),
        ("2026-02-05", "The deadline for the beta is 5 May."),
        ("2026-02-06", "The release is planned for 2 June."),
        ("2026-02-09", "billing-service depends on auth-service."),
        ("2026-02-10", "Tenant means one customer account."),
        ("2026-02-11", "The migration scripts live in db/migrations."),
        ("2026-02-12", "Don't push directly to main."),
        ("2026-02-13", "We use Redis for the job queue."),
        ("2026-02-16", "The API listens on port 8080."),
        ("2026-03-03", "Ben took over billing from Dana on 3 March."),
        ("2026-03-04", "The beta slipped to 12 May."),
        ("2026-03-05", "Run the migrations before the tests."),
        ("2026-03-06", "The test command is now `uv run pytest -q`."),
        ("2026-03-09", "We switched from Redis to Kafka."),
        ("2026-03-10", "Actually, use spaces, not tabs."),
        ("2026-03-11", "The release moved to 16 June."),
        ("2026-03-12", "The API listens on port 9090 now."),
        ("2026-03-13", "We decided to keep Django because the team knows it well."),
        ("2026-03-16", "Make sure to update the changelog when you fix a bug."),
        ("2026-03-17", "The build command is `npm run build`."),
        ("2026-03-18", "Lena is assigned to the login bug."),
        ("2026-03-19", "The checkout page is blocked by the payments API."),
        ("2026-03-20", "Prefer composition over inheritance."),
        ("2026-03-23", "Thanks, that looks good to me."),
    ),
    middle="2026-02-20",
    asked=(
        Asked("What has to be done before committing?", ("run make lint before committing",)),
        Asked("May I edit the lock file?", ("Never edit the lock file",)),
        Asked("How do I run the tests?", ("uv run pytest -q",), ("make test",)),
        Asked("How do I run the tests?", ("make test",), ("uv run pytest",), in_middle=True),
        Asked("Tabs or spaces?", ("prefers spaces",), ("prefers tabs",)),
        Asked("Tabs or spaces?", ("prefers tabs",), ("prefers spaces",), in_middle=True),
        Asked("Why did we choose Postgres?", ("Postgres", "it has better JSON support")),
        Asked("Which database was Postgres chosen over?", ("MySQL",)),
        Asked("Who owns the billing service?", ("Ben owns billing service",), ("Dana owns billing service",)),
        Asked("Who owns the billing service?", ("Dana owns billing service",), ("Ben owns",), in_middle=True),
        Asked("Who owns the search service?", ("Omar owns search service",)),
        Asked("When is the beta due?", ("12 May",), ("5 May",)),
        Asked("When is the beta due?", ("5 May",), ("12 May",), in_middle=True),
        Asked("When is the release?", ("16 June",), ("2 June",)),
        Asked("When is the release?", ("2 June",), ("16 June",), in_middle=True),
        Asked("What does billing-service depend on?", ("auth-service",)),
        Asked("What does tenant mean?", ("one customer account",)),
        Asked("Where are the migration scripts?", ("db/migrations",)),
        Asked("May I push to main?", ("push directly to main",)),
        Asked("What do we use for the job queue?", ("uses Kafka",), ("uses Redis",)),
        Asked("What do we use for the job queue?", ("uses Redis",), ("Kafka",), in_middle=True),
        Asked("On which port does the API listen?", ("9090",), ("8080",)),
        Asked("On which port does the API listen?", ("8080",), ("9090",), in_middle=True),
        Asked("Why do we keep Django?", ("the team knows it well",)),
        Asked("What runs before the tests?", ("Run the migrations before the tests",)),
        Asked("What has to be done when I fix a bug?", ("update the changelog",)),
        Asked("How is it built?", ("npm run build",)),
        Asked("Who works on the login bug?", ("Lena",)),
        Asked("What blocks the checkout page?", ("payments API",)),
        Asked("Composition or inheritance?", ("composition",)),
    ),
)

SECOND: Final = Session(
    turns=(
        ("2026-04-01", "The ingest service is written in Rust."),
        ("2026-04-01", "Priya is the owner of the ingest service."),
        ("2026-04-02", "Please always write a test before you fix a bug."),
        ("2026-04-02", "Do not touch the generated files in src/gen."),
        ("2026-04-03", "We went with RabbitMQ instead of SQS since it runs on our own machines."),
        ("2026-04-03", "To run the tests, use `cargo test --all`."),
        ("2026-04-06", "The deadline of the public preview is 30 June."),
        ("2026-04-06", "We format everything with rustfmt."),
        ("2026-04-07", "Commit messages must start with the ticket number."),
        ("2026-04-07", "The dashboard is owned by Team Atlas."),
        ("2026-04-08", "Shard means one partition of a customer's events."),
        ("2026-04-08", "The staging database is on port 5433."),
        ("2026-04-09", "Joel maintains the CI pipeline."),
        ("2026-04-09", "I prefer small pull requests."),
        ("2026-04-10", "Config lives in config/app.toml."),
        ("2026-04-27", "Priya handed over the ingest service to Tomas on 24 April."),
        ("2026-04-28", "We pushed the public preview back to 14 July."),
        ("2026-04-28", "Run the tests with `cargo nextest run` from now on."),
        ("2026-04-29", "Never log customer names."),
        ("2026-04-29", "We replaced RabbitMQ with NATS because of the latency."),
        ("2026-04-30", "The staging database moved to port 6543."),
        ("2026-05-01", "The code freeze is on 1 July."),
        ("2026-05-04", "Correction: the code freeze is on 8 July."),
        ("2026-05-05", "Use 4 spaces for indentation."),
        ("2026-05-06", "Hana joined Team Atlas."),
        ("2026-05-06", "Ask Hana before changing the billing schema."),
        ("2026-05-07", "We decided against GraphQL because the clients are few."),
        ("2026-05-08", "The retry limit is 5."),
        ("2026-05-08", "The export job is waiting on the new schema."),
        ("2026-05-11", "Great, ship it!"),
    ),
    middle="2026-04-20",
    asked=(
        Asked("What is the ingest service written in?", ("Rust",)),
        Asked("Who owns the ingest service?", ("Tomas",), ("Priya owns",)),
        Asked("Who owns the ingest service?", ("Priya owns",), ("Tomas",), in_middle=True),
        Asked("What must I do before I fix a bug?", ("write a test before you fix a bug",)),
        Asked("May I touch generated files?", ("touch the generated files",)),
        Asked("Which message broker do we use?", ("NATS",), ("uses RabbitMQ",)),
        Asked("Which message broker do we use?", ("RabbitMQ",), ("NATS",), in_middle=True),
        Asked("Why did we go with RabbitMQ?", ("it runs on our own machines",), in_middle=True),
        Asked("Why did we move to NATS?", ("latency",)),
        Asked("How do I run the tests?", ("cargo nextest run",), ("cargo test --all",)),
        Asked("How do I run the tests?", ("cargo test --all",), ("nextest",), in_middle=True),
        Asked("When is the public preview due?", ("14 July",), ("30 June",)),
        Asked("When is the public preview due?", ("30 June",), ("14 July",), in_middle=True),
        Asked("What do we format with?", ("rustfmt",)),
        Asked("How must commit messages start?", ("start with the ticket number",)),
        Asked("Who owns the dashboard?", ("Team Atlas",)),
        Asked("What does shard mean?", ("one partition of a customer's events",)),
        Asked("What is the port of the staging database?", ("6543",), ("5433",)),
        Asked("What is the port of the staging database?", ("5433",), ("6543",), in_middle=True),
        Asked("Who maintains the CI pipeline?", ("Joel",)),
        Asked("What kind of pull requests are preferred?", ("small pull requests",)),
        Asked("Where is the config?", ("config/app.toml",)),
        Asked("May I log customer names?", ("Never log customer names",)),
        Asked("When is the code freeze?", ("8 July",), ("1 July",)),
        Asked("How is code indented?", ("4 spaces",)),
        Asked("Who is on Team Atlas?", ("Hana",)),
        Asked("Whom do I ask before changing the billing schema?", ("Ask Hana before changing the billing schema",)),
        Asked("Did we choose GraphQL?", ("GraphQL", "the clients are few")),
        Asked("What is the retry limit?", ("retry limit is 5",)),
        Asked("What does the export job wait for?", ("new schema",)),
    ),
)
