"""Everything a browser or a script talks to: guard, pages, API, WebSocket, and the server."""
