"""Anticipatory reflection: a plan before, remedies at hand, a judgement after each action.

After Wang et al. 2024, "Devil's Advocate: Anticipatory Reflection for LLM Agents".
"""
