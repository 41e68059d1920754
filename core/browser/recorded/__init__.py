"""The answers of servers to a page: recorded, and replayed without asking the servers."""
