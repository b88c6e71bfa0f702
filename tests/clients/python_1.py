"""The Python library of the first generation (handshake)."""
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import session


async def main():
    launch = session.read(sys.argv[1])
    server = StdioServerParameters(command=launch["command"], args=launch["args"], env=launch["env"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        hello = await client.initialize()

        async def call(tool, arguments):
            result = await client.call_tool(tool, arguments)
            return bool(result.isError), [block.text for block in result.content], result.structuredContent

        tools = (await client.list_tools()).tools
        await session.work(call, tools, hello.protocolVersion)
        session.passed(f"Python mcp 1, protocol {hello.protocolVersion}")


asyncio.run(main())
