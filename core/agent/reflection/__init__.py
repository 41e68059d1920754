"""Anticipatory reflection: a plan at the start, remedies for each action, a judgement after it.

After Wang et al. 2024, "Devil's Advocate: Anticipatory Reflection for LLM Agents".
"""
