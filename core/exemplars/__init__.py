"""Exemplar memory: stored trajectories for prompts, retrieved by the similarity of task and page.

After Synapse (Zheng et al. 2024): metadata is embedded, the nearest by Euclidean distance vote for a family,
and its trajectories go into the prompt.
"""
