"""A session as every Python client must be able to work through it."""
import json
import sys

FIELDS = {
    "store": dict, "user": dict, "group": dict, "princ": type(None), "event": type(None), "demo": bool,
    "folder": str, "cache": dict, "build": str, "memory": dict, "tools": int, "tasks": dict, "granted": list,
}


def read(path):
    """What try.json tells to start: command, arguments, environment."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)["mcp"]


async def work(call, tools, protocol):
    """Works through a session; `call` gives (refused, texts, structured)."""
    names = [tool.name for tool in tools]
    assert names[:4] == ["session_init", "session_connect", "session_rules_accept", "session_clear"], names
    assert all(tool.description and len(tool.description.encode()) < 2048 for tool in tools)

    refused, texts, _ = await call("memory_list", {})
    assert refused and texts[0].startswith("Not connected."), texts

    data = await done(call, "session_init", {}, protocol)
    assert data["program"]["state"] == "running" and data["connect"] is True, data

    data = await done(call, "session_connect", {"topic": "python"}, protocol)
    assert set(data) == set(FIELDS), sorted(data)
    for field, kind in FIELDS.items():
        assert isinstance(data[field], kind), (field, data[field])
    assert data["user"]["login"] == "irina" and data["user"]["from"] == "program", data["user"]

    notes = await done(call, "memory_list", {}, protocol)
    critical = [row[0] for row in notes["notes"]["rows"] if row[2] == "kCritical"]
    assert len(critical) == data["memory"]["critical"], (critical, data["memory"])

    refused, texts, _ = await call("memory_save", {"name": "x"})
    assert refused and texts[0].startswith("The store asks you to read its kCritical notes"), texts
    loaded = await done(call, "memory_load", {"ids": critical}, protocol)
    assert [note["id"] for note in loaded["notes"]] == critical and loaded["missed"] == [], loaded

    saved = await done(call, "memory_save", {"name": "Из Python", "body": "<p>ok</p>"}, protocol)
    removed = await done(call, "memory_remove", {"id": saved["id"]}, protocol)
    assert removed["removed"] == 1, removed

    refused, texts, structured = await call("memory_lst", {})
    assert refused and texts[0].startswith("Unknown tool:") and structured is None, texts


async def done(call, tool, arguments, protocol):
    """A call that must be done; gives its data."""
    refused, texts, structured = await call(tool, arguments)
    assert not refused, (tool, texts)
    data = json.loads(texts[0])
    # Of a client that nobody knows the text stands inside the structured object too.
    inside = {**data, "text": texts[1]} if len(texts) > 1 else data
    assert structured == (inside if protocol >= "2025-06-18" else None), (tool, structured)
    return data


def passed(name):
    """Says that a client got through."""
    print(f"ok {name}", file=sys.stdout)
