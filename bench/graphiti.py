"""Graphiti on its embedded database, Kuzu, for the benchmarks that measure it: with the embedder and the model given.

Two things that its driver leaves out are done here: the name of the database, and the indexes of words.
"""

from importlib import import_module
from pathlib import Path
from typing import Any


async def open_graphiti(path: Path, model: Any, embedder: Any) -> Any:
    """Return a `Graphiti` with a new database at a path, which ranks nothing a second time.

    model: its client of a language model. embedder: one of asof's, which a peer's environment imports late.
    """
    core: Any = import_module("graphiti_core")
    queries: Any = import_module("graphiti_core.graph_queries")
    kuzu: Any = import_module("graphiti_core.driver.kuzu_driver")
    port: Any = import_module("graphiti_core.embedder.client")
    reranker: Any = import_module("graphiti_core.cross_encoder.client")

    class Embedder(port.EmbedderClient):  # type: ignore[misc]
        async def create(self, input_data: Any) -> list[float]:
            texts = [input_data] if isinstance(input_data, str) else list(input_data)
            return (await self.create_batch(texts))[0]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return embedder.embed(input_data_list).tolist()  # type: ignore[no-any-return]

    class Reranker(reranker.CrossEncoderClient):  # type: ignore[misc]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:  # noqa: ARG002
            return [(passage, 1.0) for passage in passages]

    driver = kuzu.KuzuDriver(str(path))
    driver._database = ""  # noqa: SLF001 - which it asks for, and does not set
    for query in queries.get_fulltext_indices(driver.provider):
        await driver.execute_query(query)
    return core.Graphiti(graph_driver=driver, llm_client=model, embedder=Embedder(), cross_encoder=Reranker())
