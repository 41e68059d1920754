"""The settings, and reading of all files that people edit."""
