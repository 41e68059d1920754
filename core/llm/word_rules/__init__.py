"""The built-in LLM's parts: reading an objective, matching its words to a page, choosing what to do."""
