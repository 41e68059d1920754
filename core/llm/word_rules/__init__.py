"""Reading an objective, matching its words to a page, and choosing the next action: the built-in LLM's parts."""
