from tests.core.trace.conftest import path, store

__all__ = ["path", "store"]
