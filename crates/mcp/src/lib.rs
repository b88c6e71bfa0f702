//! The MCP server on stdio: session, conversation folder, HTTP client to the engine, answers as blocks.
