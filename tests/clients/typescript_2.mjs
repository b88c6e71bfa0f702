// The TypeScript library of the second generation, in both of its ways to connect.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { read, work } from "./session.mjs";

const { command, args, env } = read(process.argv[2]);
for (const mode of ["auto", "legacy"]) {
  const client = new Client({ name: "typescript-2", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ command, args, env }));
  const protocol = client.getNegotiatedProtocolVersion();
  await work(client, protocol);
  console.log(`ok TypeScript client 2 (${mode}), protocol ${protocol}`);
  await client.close();
}
