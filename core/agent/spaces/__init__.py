"""State spaces: files with the kinds of pages of a site and their actions.

After LASER (Ma et al. 2024): a page is in one of a few states, a state fixes
the permissible actions, and an action leads to a state.
"""
