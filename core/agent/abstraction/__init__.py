"""State abstraction: from all that a page holds to what the task needs of it.

After Synapse (Zheng et al. 2024): explicit by pairs of state and observation,
implicit by code that an LLM writes; and by ranking, without an LLM.
"""
