"""Calls each route once, as the code does that was generated from Graphiti's description of its server."""

import importlib
import json
import sys
import time

from client import Client, models

API = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)


def call(name: str, **given: object) -> object:
    """Call an operation; return what was answered."""
    answer = importlib.import_module(f"client.api.default.{name}").sync_detailed(client=API, **given)
    answers[name] = answer.status_code.value
    return json.loads(answer.content)


answers: dict[str, int] = {}
said = models.Message(content="I live in Berlin.", role_type=models.MessageRoleType.USER, role="Ana")
call("healthcheck_healthcheck_get")
call("add_messages_messages_post", body=models.AddMessagesRequest(group_id="generated", messages=[said]))
while not (
    facts := call("search_search_post", body=models.SearchQuery(query="Berlin", group_ids=["generated"]))["facts"]
):
    time.sleep(0.05)
[fact] = facts
call("get_entity_edge_entity_edge_uuid_get", uuid=fact["uuid"])
[episode] = call("get_episodes_episodes_group_id_get", group_id="generated", last_n=10)
memory = models.GetMemoryRequest(group_id="generated", center_node_uuid=None, messages=[said])
[remembered] = call("get_memory_get_memory_post", body=memory)["facts"]
node = models.AddEntityNodeRequest(uuid="8e03978e-40d5-43dd-bc93-6894a57f9324", group_id="generated", name="Bo")
call("add_entity_node_entity_node_post", body=node)
call("delete_entity_edge_entity_edge_uuid_delete", uuid=fact["uuid"])
call("delete_episode_episode_uuid_delete", uuid=episode["uuid"])
call("delete_group_group_group_id_delete", group_id="generated")
call("clear_clear_post")
sys.stdout.write(json.dumps({"answers": answers, "fact": fact["fact"], "same": fact == remembered}))
