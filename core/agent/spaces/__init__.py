"""State spaces: files that say which kinds of pages a site has and what may be done in each.

After LASER (Ma et al. 2024): a page is in one of a few states, a state fixes
the permissible actions, and an action leads to a state.
"""
