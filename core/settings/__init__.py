"""The settings, and the door for all files that people edit."""
