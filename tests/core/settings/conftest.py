import pytest

from core.settings.settings import settings_path


@pytest.fixture
def environ(tmp_path):
    return {"BACKSTEP_CONFIG_DIR": str(tmp_path / "config"), "BACKSTEP_DATA_DIR": str(tmp_path / "data")}


@pytest.fixture
def write(environ):
    def write_file(text: str | bytes):
        path = settings_path(environ)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file
