"""The command `files`: the files of agents, bundled and the user's own."""

from core.cli.output import put_file, put_json, put_table
from core.debugger.editing.files import SETTINGS, AgentFiles
from core.schema.errors import UsageError
from core.settings.settings import config_folder


def show_files(name: str | None, *, as_json: bool) -> None:
    """Print the names of the files, or the text of one; raises UsageError if there is none of that name."""
    files = AgentFiles(config_folder())
    own = {one: files.target(one).exists() for one in files.names()}
    if name == SETTINGS:
        raise UsageError(
            "The settings are not a file of an agent. They can contain secrets, and are not shown."
        )
    if name is None and as_json:
        put_json([{"name": one, "own": is_own} for one, is_own in own.items()])
    elif name is None:
        put_table(("file", "whose"), [(one, "own" if is_own else "bundled") for one, is_own in own.items()])
    elif as_json:
        text = files.read(name)
        put_json({"name": name, "own": own[name], "path": str(files.path(name)), "text": text})
    else:
        put_file(files.read(name))
