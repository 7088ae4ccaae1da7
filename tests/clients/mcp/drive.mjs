// Drives a server with the client of the TypeScript SDK: a call on each line of standard input, an answer on each of output.
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, url, ...command] = process.argv.slice(2);
const transport =
  url === "-"
    ? new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env, stderr: "ignore" })
    : new StreamableHTTPClientTransport(new URL(url));
const client = new Client({ name: "drive", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);
const tell = (answer) => console.log(JSON.stringify(answer));
tell({ tools: (await client.listTools()).tools, instructions: client.getInstructions() });
for await (const line of createInterface({ input: process.stdin })) {
  try {
    tell(await client.callTool(JSON.parse(line)));
  } catch (error) {
    tell({ isError: true, content: [{ type: "text", text: `the client: ${error.message}` }] });
  }
}
await client.close();
process.exit(0);
