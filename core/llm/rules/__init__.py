"""The built-in LLM, which answers prompts by matching words."""

from core.llm.rules.llm import RulesLLM

__all__ = ["RulesLLM"]
