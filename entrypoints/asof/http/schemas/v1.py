"""The bodies of the routes under /v1, and their errors. The answers are those of the operations."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from asof.http.schemas.body import Body, Outcomes
from asof.operations.errors import InvalidInput
from asof.operations.generations import EstimateRebuild, GenerationQuery, Input, Rebuild, ResumeBuild
from asof.operations.messages import (
    ONTOLOGY_PATTERN,
    FactStatement,
    IdentityStatement,
    TimezoneStatement,
    accept,
    in_database,
)
from asof.operations.queries import (
    DEFAULT_GROUP,
    MAX_RETRIES,
    ConsolidateQuery,
    ErasureQuery,
    GroupId,
    Name,
    PromptChoice,
    PromptRegistration,
    SettleRequest,
    TimezoneName,
    ask,
)
from asof.operations.times import in_instants, system, zone_of

_MOST = 1_000  # statements of one request
_ID = "1c8e2d4a-7f0b-5c39-9a51-2f6d3b8e4c10"
_EXAMPLE: JsonDict = {"subject": "Ana", "relation": "lives_in", "object": "Berlin", "valid_at": "2024-03-01T00:00:00Z"}


class Statements(Body):
    """Structured facts of one group, in the order in which they are stated."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"group_id": "ana", "statements": [_EXAMPLE]}]})

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group of all statements.")
    timezone: TimezoneName = Field("UTC", description="By the days of this zone times in words are read.")
    statements: list[dict[str, Any]] = Field(
        min_length=1, max_length=_MOST, description="Each has the fields of a line of `asof import`."
    )

    def messages(self) -> list[FactStatement]:
        """Return the messages that state them. InvalidInput names the number of the statement and the field."""
        return [self._message(number, fields) for number, fields in enumerate(self.statements)]

    def _message(self, number: int, fields: dict[str, Any]) -> FactStatement:
        try:
            if fields.get("group_id", self.group_id) != self.group_id:
                raise InvalidInput("a statement belongs to the group of the request; leave it out", field="group_id")
            said = in_instants(fields, system, zone=zone_of(self.timezone))
            return accept(FactStatement, {**said, "group_id": self.group_id})
        except InvalidInput as error:
            raise error.within(f"statements.{number}") from None


class GenerationName(Body):
    """A generation, by its name."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "main"}]})

    name: Name = Field(description="The generation.")

    def query(self) -> GenerationQuery:
        """Return the query of the operations that take one generation."""
        return GenerationQuery(name=self.name)


class BuildLimits(Body):
    """What the calls of a build to a language model may come to."""

    max_tokens: int | None = Field(None, ge=0, description="Pause before it has asked for more tokens, in and out.")
    max_cost: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="Pause before it has cost more, by ASOF_MODEL_PRICES."
    )


class GenerationPlan(Body):
    """A generation that may be built. Where a field is left out, it is as in the one that answers."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "work", "input": "episodes", "ontology": "agent_memory_v1"}]}
    )

    name: Name | None = Field(None, description="Its name; build-1, build-2, ... if left out.")
    input: Input = Field("mentions", description="mentions: resolve again. episodes: extract again as well.")
    ontology: str | None = Field(
        None, pattern=ONTOLOGY_PATTERN, description="One that comes with asof: no file of the service is read."
    )
    policy: Literal["recency", "graded"] | None = Field(None, description="How contradictions are decided.")

    def query(self) -> EstimateRebuild:
        """Return the query."""
        return EstimateRebuild(**self.model_dump())


class NewGeneration(BuildLimits, GenerationPlan):
    """A generation that is to be built. Where a field is left out, it is as in the one that answers."""

    def query(self) -> Rebuild:
        """Return the query."""
        return Rebuild(**self.model_dump())


class StoppedBuild(BuildLimits):
    """A build that is not complete, by the name of its generation."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "work"}]})

    name: Name = Field(description="The generation.")

    def query(self) -> ResumeBuild:
        """Return the query."""
        return ResumeBuild(**self.model_dump())


class NewPrompt(Body, PromptRegistration):
    """A version of a prompt by which a bot speaks."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"prompt": "MAIN_CONVERSATION", "template": "Answer this: {current_message}"}]},
        defer_build=False,
    )

    def query(self) -> PromptRegistration:
        """Return the query."""
        return PromptRegistration(**self.model_dump())


class PromptActivation(Body, PromptChoice):
    """The version of a prompt that is to be used."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"prompt": "MAIN_CONVERSATION", "version": 1}]}, defer_build=False
    )

    def query(self) -> PromptChoice:
        """Return the query."""
        return PromptChoice(**self.model_dump())


class Identity(Body):
    """A statement about the identity of entities, each an exact name or an id of the group."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"group_id": "ana", "op": "merge", "entity": "Annie", "into": "Ana"}]}
    )

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group of the entities.")
    op: Literal["merge", "split", "alias", "unalias"] = Field(description="unalias takes back what alias stated.")
    entity: str | None = Field(None, description="The entity.")
    into: str | None = Field(None, description="Of a merge or a split: the other entity.")
    name: str | None = Field(None, description="Of an alias: the other name.")
    merge_id: str | None = Field(None, description="Of a split: the one merge that is taken back.")

    def message(self) -> IdentityStatement:
        """Return the message that states it. InvalidInput names the field."""
        return accept(IdentityStatement, self.model_dump(exclude_none=True))


class Timezone(Body):
    """The time zone of the speakers of a group."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"group_id": "ana", "timezone": "Europe/Berlin"}]})

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group.")
    timezone: str = Field(description="The IANA name of the zone.")

    def message(self) -> TimezoneStatement:
        """Return the message that states it. InvalidInput: there is no such zone."""
        return in_database(accept(TimezoneStatement, self.model_dump()))


class Settlement(Body):
    """The fact that stands, of those that contradict it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"group_id": "ana", "id": _ID}]})

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group of the fact.")
    id: str = Field(description="The id of the fact that stands.")

    def request(self) -> SettleRequest:
        """Return the request. InvalidInput names the field."""
        return ask(SettleRequest, self.model_dump())


class Retry(Body):
    """Messages of one group to process again that were parked, or about which a model gave no answer."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"group_id": "ana", "positions": [17]}]})

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group of the messages.")
    positions: list[int] = Field(
        [], max_length=MAX_RETRIES, description="Of the messages; all that are listed under /v1/parked, if left out."
    )


class Erase(Body):
    """A group to erase, or those of its messages that fit all that is given."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"group_id": "ana", "person": "Ben"}]})

    group_id: GroupId = Field(description="The group.")
    person: Name | None = Field(None, description="What this person said, and all that means them.")
    only_said: bool = Field(False, description="Of a person: what they said themselves, not what others said of them.")
    phrase: Name | None = Field(None, description="What has these words.")
    start: str | None = Field(None, alias="from", description="Said from this time on.")
    stop: str | None = Field(None, alias="to", description="Said before this time.")
    timezone: TimezoneName = Field("UTC", description="By the days of this zone times in words are read.")

    def query(self) -> ErasureQuery:
        """Return the query. InvalidInput names the field."""
        fields = self.model_dump(by_alias=True, exclude={"timezone"}, exclude_none=True)
        return ask(ErasureQuery, in_instants(fields, system, zone=zone_of(self.timezone)))


class Consolidate(Body):
    """A group to consolidate."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"group_id": "ana", "dry_run": True}]})

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group.")
    undo: bool = Field(False, description="Undo the last pass that still stands, in place of another one.")
    dry_run: bool = Field(False, description="Show what would change, and write nothing.")

    def query(self) -> ConsolidateQuery:
        """Return the query."""
        return ask(ConsolidateQuery, self.model_dump())


class Stated(BaseModel):
    """The positions of statements on the log."""

    positions: list[int] = Field(examples=[[17]], description="In the messages log; on Kafka the offsets.")
    outcomes: Outcomes = None


class Problem(BaseModel):
    """An error in the form of RFC 9457."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no fact has the id x"])
    field: str | None = Field(
        None,
        description="The dotted path of what is wrong in what was sent, where it is one field.",
        examples=["about"],
    )
