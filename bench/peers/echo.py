"""An echo server on the Python SDK, to measure beside."""
from mcp.server.fastmcp import FastMCP

server = FastMCP("echo")


@server.tool()
def echo(text: str) -> str:
    """Echoes."""
    return text


server.run("stdio")
