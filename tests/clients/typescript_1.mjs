// The TypeScript library of the first generation (handshake).
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { read, work } from "./session.mjs";

const { command, args, env } = read(process.argv[2]);
const client = new Client({ name: "typescript-1", version: "1.0.0" });
const transport = new StdioClientTransport({ command, args, env });
let protocol = "";
transport.setProtocolVersion = (version) => {
  protocol = version;
};
await client.connect(transport);
await work(client, protocol);
console.log(`ok TypeScript sdk 1, protocol ${protocol}`);
await client.close();
