// A session as every TypeScript client must be able to work through it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const FIELDS = ["store", "user", "group", "princ", "event", "demo", "folder", "cache", "build", "memory", "tools", "tasks", "granted"];

// What try.json tells to start: command, arguments, environment.
export function read(path) {
  return JSON.parse(readFileSync(path, "utf8")).mcp;
}

// Works through a session with a client that has connected.
export async function work(client, protocol) {
  const call = (name, args) => client.callTool({ name, arguments: args });
  const done = async (name, args) => {
    const result = await call(name, args);
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
    const data = JSON.parse(result.content[0].text);
    // Of a client that nobody knows the text stands inside the structured object too.
    const inside = result.content.length > 1 ? { ...data, text: result.content[1].text } : data;
    assert.deepEqual(result.structuredContent, protocol >= "2025-06-18" ? inside : undefined);
    return data;
  };
  const refused = async (name, args, beginning) => {
    const result = await call(name, args);
    assert.equal(result.isError, true);
    assert.equal(result.content.length, 1);
    assert.ok(result.content[0].text.startsWith(beginning), result.content[0].text);
  };

  const { tools } = await client.listTools();
  assert.deepEqual(tools.slice(0, 4).map((tool) => tool.name), ["session_init", "session_connect", "session_rules_accept", "session_clear"]);

  await refused("memory_list", {}, "Not connected.");
  const around = await done("session_init", {});
  assert.equal(around.program.state, "running");
  const data = await done("session_connect", { topic: "typescript" });
  assert.deepEqual(Object.keys(data), FIELDS);
  assert.equal(data.user.login, "irina");
  assert.equal(data.princ, null);
  const notes = await done("memory_list", {});
  const critical = notes.notes.rows.filter((row) => row[2] === "kCritical").map((row) => row[0]);
  assert.equal(critical.length, data.memory.critical);
  await refused("memory_save", { name: "x" }, "The store asks you to read its kCritical notes");
  const loaded = await done("memory_load", { ids: critical });
  assert.deepEqual(loaded.missed, []);
  const saved = await done("memory_save", { name: "Из TypeScript", body: "<p>ok</p>" });
  const removed = await done("memory_remove", { id: saved.id });
  assert.equal(removed.removed, 1);
  await refused("memory_lst", {}, "Unknown tool:");
}
