"""The Python library of the second generation, in both of its ways to connect."""
import asyncio
import sys

from mcp import Client, StdioServerParameters

import session


async def once(mode):
    launch = session.read(sys.argv[1])
    server = StdioServerParameters(command=launch["command"], args=launch["args"], env=launch["env"])
    async with Client(server, mode=mode) as client:

        async def call(tool, arguments):
            result = await client.call_tool(tool, arguments)
            return bool(result.is_error), [block.text for block in result.content], result.structured_content

        tools = (await client.list_tools()).tools
        await session.work(call, tools, client.protocol_version)
        session.passed(f"Python mcp 2 ({mode}), protocol {client.protocol_version}")


async def main():
    for mode in ["auto", "legacy"]:
        await once(mode)


asyncio.run(main())
