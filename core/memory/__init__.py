"""Exemplar memory: trajectories kept to prompt with, found again by the likeness of their task and page.

After Synapse (Zheng et al. 2024): metadata is embedded, the nearest by
Euclidean distance vote for a family, and its trajectories are prompted with.
"""
