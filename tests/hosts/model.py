"""A scripted model on loopback: it speaks the providers' APIs and lets a session decide what it calls.

Anthropic Messages, OpenAI Responses and Chat Completions, Gemini; whole answers and streams. Nothing is remembered of a
request but what its session took from it, and every request is kept in a file beside the answer it got.
"""

import gzip
import itertools
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NUMBERS = itertools.count(1)


class Call:
    """A tool call that stands in a request, with its result as the model is shown it."""

    def __init__(self, name, arguments, result=None):
        self.name, self.arguments, self.result = name, arguments, result


class Request:
    """What a model reads: names of tools, calls so far, and everything else that was said to it."""

    def __init__(self, tools, calls, prose):
        self.tools, self.calls, self.prose = tools, calls, prose


def fresh(prefix):
    return f"{prefix}_{next(NUMBERS):08d}"


def strings(value):
    """Every text in a value, also in JSON that stands in a text."""
    if isinstance(value, str):
        yield value
        if value.lstrip()[:1] in ("{", "["):
            try:
                yield from strings(json.loads(value))
            except ValueError:
                pass
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)


def parsed(text):
    """Arguments, which stand in a request as a text."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def texts(content):
    """A message's content without what surrounds it: its text, or its parts with text alone."""
    if isinstance(content, list) and all(isinstance(one, dict) and "text" in one for one in content):
        return "\n".join(one["text"] for one in content)
    return content


# Each provider: the end of its address, how a request is read, how an answer is written.


class Anthropic:
    name, path = "Anthropic Messages", re.compile(r"/v1/messages(\?.*)?$")

    @staticmethod
    def read(body):
        calls, results, prose = {}, {}, [body.get("system")]
        for message in body.get("messages", []):
            for part in message["content"] if isinstance(message["content"], list) else []:
                if part.get("type") == "tool_use":
                    calls[part["id"]] = Call(part["name"], part.get("input"))
                elif part.get("type") == "tool_result":
                    results[part["tool_use_id"]] = texts(part.get("content"))
            if message["role"] != "assistant":
                prose.append([one for one in message["content"] if not isinstance(one, dict) or one.get("type") == "text"])
                if isinstance(message["content"], str):
                    prose.append(message["content"])
        for key, result in results.items():
            if key in calls:
                calls[key].result = result
        return Request([(tool.get("name"), None) for tool in body.get("tools") or []], list(calls.values()), prose)

    @staticmethod
    def write(body, _path, say, call):
        block = {"type": "text", "text": say}
        if call:
            block = {"type": "tool_use", "id": fresh("toolu"), "name": call[0][0], "input": call[1]}
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {"id": fresh("msg"), "type": "message", "role": "assistant", "model": body.get("model"), "usage": usage}
        stop = "tool_use" if call else "end_turn"
        if not body.get("stream"):
            return {**message, "content": [block], "stop_reason": stop, "stop_sequence": None}, None
        empty = {**block, "input": {}} if call else {**block, "text": ""}
        delta = {"type": "text_delta", "text": say}
        if call:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        return None, [(event["type"], event) for event in events]


class Responses:
    name, path = "OpenAI Responses", re.compile(r"/v1/responses$")

    @classmethod
    def listed(cls, tools, space=None):
        for tool in tools or []:
            if tool.get("type") == "namespace":
                yield from cls.listed(tool.get("tools"), tool["name"])
            elif tool.get("name") or tool.get("type") == "tool_search":
                yield tool.get("name") or "tool_search", space

    @classmethod
    def read(cls, body):
        calls, results, prose, tools = {}, {}, [body.get("instructions")], list(cls.listed(body.get("tools")))
        prose.append([tool.get("description") for tool in body.get("tools") or []])
        for item in body.get("input") if isinstance(body.get("input"), list) else []:
            kind = item.get("type")
            if kind in ("function_call", "tool_search_call", "custom_tool_call"):
                arguments = item.get("input") or parsed(item.get("arguments"))
                calls[item["call_id"]] = Call(item.get("name") or "tool_search", arguments)
            elif kind in ("function_call_output", "tool_search_output", "custom_tool_call_output"):
                results[item["call_id"]] = texts(item.get("output") or item.get("tools"))
            if kind in ("additional_tools", "tool_search_output"):
                tools += cls.listed(item.get("tools"))
                prose.append(item.get("tools"))
            if kind in (None, "message") and item.get("role") != "assistant":
                prose.append(item.get("content"))
        for key, result in results.items():
            if key in calls:
                calls[key].result = result
        return Request(tools, list(calls.values()), prose)

    @staticmethod
    def write(body, _path, say, call):
        item = {"type": "message", "id": fresh("msg"), "role": "assistant", "status": "completed"}
        item["content"] = [{"type": "output_text", "text": say, "annotations": []}]
        if call:
            (name, space), arguments = call
            item = {"call_id": fresh("call"), "status": "completed", "name": name} | ({"namespace": space} if space else {})
            if isinstance(arguments, str):
                item |= {"type": "custom_tool_call", "id": fresh("ctc"), "input": arguments}
            else:
                item |= {"type": "function_call", "id": fresh("fc"), "arguments": json.dumps(arguments)}
            if name == "tool_search":
                item = {"type": "tool_search_call", "call_id": fresh("call"), "status": "completed"}
                item |= {"execution": "client", "arguments": arguments}
        usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10}
        usage |= {"output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20}
        whole = {"id": fresh("resp"), "object": "response", "created_at": 0, "model": body.get("model")}
        whole |= {"status": "completed", "output": [item], "usage": usage}
        if not body.get("stream"):
            return whole, None
        events = [
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        return None, [(event["type"], event) for event in events]


class Chat:
    name, path = "OpenAI Chat", re.compile(r"/v1/chat/completions$")

    @staticmethod
    def read(body):
        calls, prose = {}, []
        for message in body.get("messages", []):
            for call in message.get("tool_calls") or []:
                calls[call["id"]] = Call(call["function"]["name"], parsed(call["function"]["arguments"]))
            if message["role"] == "tool" and message.get("tool_call_id") in calls:
                calls[message["tool_call_id"]].result = texts(message.get("content"))
            elif message["role"] in ("system", "developer", "user"):
                prose.append(message.get("content"))
        tools = [(tool["function"]["name"], None) for tool in body.get("tools") or [] if "function" in tool]
        return Request(tools, list(calls.values()), prose)

    @staticmethod
    def write(body, _path, say, call):
        message, stop = {"role": "assistant", "content": say}, "stop"
        if call:
            function = {"name": call[0][0], "arguments": json.dumps(call[1])}
            tool_call = {"index": 0, "id": fresh("call"), "type": "function", "function": function}
            message, stop = {"role": "assistant", "content": None, "tool_calls": [tool_call]}, "tool_calls"
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        head = {"id": fresh("chatcmpl"), "created": 0, "model": body.get("model")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": stop}
            return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}, None
        head["object"] = "chat.completion.chunk"
        chunk = lambda delta, reason: {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        last = {**head, "choices": [], "usage": usage}
        return None, [(None, chunk(message, None)), (None, chunk({}, stop)), (None, last), (None, "[DONE]")]


class Gemini:
    name, path = "Gemini", re.compile(r":(stream)?[gG]enerateContent(\?.*)?$")

    @staticmethod
    def read(body):
        calls, results, prose = [], [], [body.get("systemInstruction")]
        for content in body.get("contents", []):
            for part in content.get("parts", []):
                if "functionCall" in part:
                    calls.append(Call(part["functionCall"]["name"], part["functionCall"].get("args")))
                elif "functionResponse" in part:
                    results.append(part["functionResponse"].get("response"))
                elif content.get("role") != "model":
                    prose.append(part.get("text"))
        # One call an answer, so results come in the order of the calls.
        for call, result in zip(calls, results):
            call.result = result
        tools = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations", [])]
        return Request([(tool["name"], None) for tool in tools], calls, prose)

    @staticmethod
    def write(_body, path, say, call):
        part = {"functionCall": {"name": call[0][0], "args": call[1]}} if call else {"text": say}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
        whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
        return (None, [(None, whole)]) if "stream" in path else (whole, None)


PROVIDERS = [Anthropic, Responses, Chat, Gemini]


class Model:
    """A server on a free port of loopback that asks `session(request)` what to do: (say, call)."""

    def __init__(self, session, records):
        self.session, self.records, self.count = session, records, itertools.count(1)
        self.records.mkdir(parents=True, exist_ok=True)
        handler = type("Bound", (Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def keep(self, path, body, answer):
        name = f"{next(self.count):03d}.json"
        kept = {"path": path, "request": body, "answer": answer}
        (self.records / name).write_text(json.dumps(kept, indent=1, ensure_ascii=False))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.whole({})

    def do_GET(self):
        self.model.keep(self.path, None, None)
        self.whole({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": [], "has_more": False})

    def do_POST(self):
        body = self.body()
        provider = next((one for one in PROVIDERS if one.path.search(self.path)), None)
        if not provider:
            self.model.keep(self.path, body, None)
            return self.whole({"input_tokens": 10, "totalTokens": 10})
        say, call = self.model.session(provider, provider.read(body))
        self.model.keep(self.path, body, call or say)
        whole, events = provider.write(body, self.path, say, call)
        return self.whole(whole) if whole else self.stream(events)

    def body(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        return json.loads(raw or b"{}")

    def whole(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, event in events:
            head = f"event: {name}\n" if name else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{head}data: {data}\n\n".encode())
        self.wfile.flush()
