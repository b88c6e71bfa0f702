"""What the scripted model does in the store, and what it must see: one session from sign-in to a saved note."""

import json
import re
import threading

from model import strings

LONG_NOTE = 100_000
SEARCHES = ["ToolSearch", "tool_search"]
# Most hosts' name for a tool of ours that they only tell of.
PREFIX = "mcp__shopwright__"


def in_javascript(name, arguments):
    """Codex's own tool in which a model writes what is to be called."""
    call = f"const seen = await tools.{name}({json.dumps(arguments)});"
    return f"{call} text(seen.isError || !seen.structuredContent ? seen.content : seen.structuredContent)"


# Tools that call another one: how its name and arguments stand in theirs.
WRAPPERS = {"tool_call": lambda name, arguments: {"name": name, "arguments": arguments}, "exec": in_javascript}


def long_body():
    """A critical note of exactly that many characters, every line of it another."""
    # Most of it in letters of two bytes: some hosts count bytes.
    line = "<p>Line {0:05d}.</p><p>Строка {0:05d}: это обязан знать каждый помощник, который работает в магазине.</p>"
    lines = [line.format(number) for number in range(1500)]
    body, end = "".join(lines), "<p>The end.</p>"
    cut = body[: LONG_NOTE - len(end)].rfind("<p>")
    filler = LONG_NOTE - len(end) - cut - len("<p></p>")
    return body[:cut] + f"<p>{'x' * filler}</p>" + end


class Result:
    """A result as the model is shown it."""

    def __init__(self, shown):
        self.shown = shown
        self.texts = list(strings(shown))
        self.length = max((len(text) for text in self.texts), default=0)

    def says(self, words):
        return any(words in text for text in self.texts)

    def data(self, key):
        """The first object with this key, wherever it stands."""
        return next((one for text in [json.dumps(self.shown), *self.texts] for one in objects(text) if key in one), {})


def objects(text):
    """Every JSON object in a text, those within one another too."""
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
            yield from inside(value)
        except ValueError:
            at += 1


def inside(value):
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from inside(one)


class Session:
    """One host's session: answers the host's requests and keeps what its model saw."""

    def __init__(self, tools, instructions, host, note):
        self.tools, self.instructions, self.host, self.note = tools, instructions, host, note
        self.lock = threading.Lock()
        self.failures, self.calls, self.asked = [], [], []
        self.listed, self.names, self.searched = set(), set(), {}
        self.first_listed = self.instructions_seen = 0
        self.provider, self.is_done, self.saved = "", False, f"Written by {host}"
        self.script = self.play()
        self.turn = next(self.script)

    # Said to the host.

    def __call__(self, provider, request):
        with self.lock:
            return self.decide(provider, request)

    def decide(self, provider, request):
        here = {tool: name for tool in self.tools if (name := self.find(tool, request.tools))}
        names = {name: (name, space) for name, space in request.tools}
        search = next((names[name] for name in SEARCHES if name in names), None)
        wrapper = next((name for name in WRAPPERS if name in names), None)
        if not here and not search and not wrapper:
            return "Work in the store", None  # a title or a summary for the host itself
        self.provider = provider.name
        self.see(request, here)
        self.take_results(request)
        if isinstance(self.turn, str):
            return self.turn, None
        tool, arguments = self.turn
        if tool not in here and search and not wrapper and self.searched.get(tool, 0) < 2:
            self.searched[tool] = self.searched.get(tool, 0) + 1
            return "", (search, self.question(tool, here, search))
        if len(self.asked) == len(self.calls):
            self.asked.append(tool)
        name, space = here.get(tool) or self.guess(tool, here)
        if tool not in here and wrapper:
            self.listed.add(tool)
            self.names.add(name)
            return "", (names[wrapper], WRAPPERS[wrapper](name, arguments))
        return "", ((name, space), arguments)

    def find(self, tool, listed):
        return next((name for name in listed if re.search(rf"(^|[_.\-/:]){tool}$", name[0] or "")), None)

    def guess(self, tool, here):
        """A name as the host makes them: a model knows it from the host's words, or from the tools beside it."""
        if not here:
            return PREFIX + tool, None
        known, (name, space) = next(iter(here.items()))
        return name[: len(name) - len(known)] + tool, space

    def question(self, tool, here, search):
        name, _ = self.guess(tool, here)
        return {"query": f"select:{name}"} if search[0] == "ToolSearch" else {"query": f"shopwright {tool}", "limit": 20}

    def of(self, call):
        """Which of our tools a call is for, also one that stands in another's arguments."""
        words = [call.name, call.arguments.get("name") if isinstance(call.arguments, dict) else call.arguments]
        names = [(name, None) for word in words if isinstance(word, str) for name in re.findall(r"[\w.:/-]+", word)]
        return next((tool for tool in self.tools if self.find(tool, names)), None)

    # Seen by the model.

    def see(self, request, here):
        if not self.listed:
            self.first_listed = len(here)
        self.listed |= set(here)
        self.names |= {name for name, _ in here.values()}
        prose = list(strings(request.prose))
        for length in range(len(self.instructions), self.instructions_seen, -1):
            if any(self.instructions[:length] in text for text in prose):
                self.instructions_seen = length
                break

    def take_results(self, request):
        own = [call for call in request.calls if call.name not in SEARCHES and self.of(call)]
        if len(own) == len(self.asked) > len(self.calls) and own[-1].result is not None:
            result = Result(own[-1].result)
            self.calls.append((self.turn, result))
            try:
                self.turn = self.script.send(result)
            except StopIteration:
                self.turn = "All of it is done."
                self.is_done = True

    def check(self, what, is_so):
        if not is_so:
            tool, result = self.calls[-1]
            self.failures.append(f"{what}: after {tool[0]} the model saw {str(result.shown)[:600]!r}")

    # What is done, in order.

    def play(self):
        seen = yield "session_init", {}
        self.check("the store can be signed in to", seen.data("connect").get("connect") is True)
        seen = yield "session_connect", {"topic": "hosts"}
        self.check("the person is known", seen.data("granted").get("user", {}).get("login") == "irina")
        self.check("the tools are granted", "memory_save" in seen.data("granted").get("granted", []))
        self.check("the tasks are counted", "waiting" in (seen.data("granted").get("tasks") or {}))
        self.check("the rules of the session are shown", seen.says("session_rules_accept"))
        seen = yield "memory_list", {}
        self.check("the notes are listed", seen.says("Personal data") or "Personal data" in str(seen.shown))
        seen = yield "memory_save", {"name": "Too early"}
        self.check("critical notes come first", seen.says("The store asks you to read its kCritical notes"))
        seen = yield "memory_load", {"ids": [1, 2]}
        self.check("critical notes are shown", "Names and addresses stay" in str(seen.shown))
        yield from self.read_long_note()
        seen = yield "memory_save", {"name": self.saved, "category": "Hosts", "body": "<p>It works.</p>"}
        self.check("a note is saved", seen.data("saved").get("saved") == "created")
        seen = yield "memory_load", {"id": seen.data("saved").get("id")}
        self.check("it can be read", "<p>It works.</p>" in [note.get("body") for note in seen.data("notes").get("notes", [])])
        seen = yield "repo_list", {}
        code = next(iter(re.findall(r"and code `([0-9a-f]{6})`", "\n".join(seen.texts))), "")
        self.check("rules are shown before the first call", seen.says("RULES_REQUIRED:") and code)
        self.check("whole", seen.says("only when the person asks for it."))
        seen = yield "session_rules_accept", {"tool": "repo_list", "code": code}
        self.check("they can be accepted", seen.says("accepted: repo.md"))
        seen = yield "repo_list", {}
        self.check("the repository is listed", "PRICES" in str(seen.shown))
        seen = yield "memory_load", {"ids": ["1"]}
        is_read = seen.data("notes").get("missed") == []
        self.check("a number in a text is read, or refused by the host itself", is_read or seen.says("must be integer"))
        seen = yield "session_connect", {"topic": "two words"}
        self.check("a refusal is shown in its words", seen.says("topic [two words] is not one word"))

    def read_long_note(self):
        body, start = "", None
        while True:
            seen = yield "memory_load", {"id": self.note} | ({"from": start} if start else {})
            note = next(iter(seen.data("notes").get("notes", [])), {})
            body += note.get("body") or ""
            before, start = start or 0, note.get("next")
            if not start or start <= before:
                break
        self.check(f"the note of {LONG_NOTE} characters is whole ({len(body)} came)", body == long_body())
