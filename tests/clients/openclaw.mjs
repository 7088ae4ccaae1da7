// Tells and asks what the test says, with the Graphiti client of OpenClaw's plugin as it is published.
import { createJiti } from "jiti";

const { GraphitiClient } = await createJiti(import.meta.url).import("@robertogongora/graphiti/client.ts");
const [url, messages, question] = process.argv.slice(2);
const client = new GraphitiClient(url, "openclaw");
const said = JSON.parse(messages);
const answers = { healthy: await client.healthy(), ingest: await client.ingest(said) };
while ((await client.episodeCount()).count < said.length) {
  await new Promise((again) => setTimeout(again, 50));
}
answers.episodes = await client.episodes();
answers.search = await client.search(question);
answers.getMemory = await client.getMemory(said, 1);
console.log(JSON.stringify(answers));
