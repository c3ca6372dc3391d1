"""The HTTP server: OpenAI's interface with speculation, its numbers, and the page."""
