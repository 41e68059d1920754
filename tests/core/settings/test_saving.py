import codecs
import os
import stat
import tomllib

import pytest
import tomlkit

from core.schema.errors import DataError
from core.settings.saving import save_settings
from core.settings.settings import load_settings


class TestSaving:
    def test_comments_order_and_the_rest_stay(self, environ, write):
        path = write("# mine\nllm = 'a'  # why\n\n[llms.fast]\n# note\nmodel = 'm'\n")
        save_settings({"llm": "b", "llms.fast.attempts": 2}, environ=environ)
        assert (
            path.read_text()
            == "# mine\nllm = \"b\"  # why\n\n[llms.fast]\n# note\nmodel = 'm'\nattempts = 2\n"
        )

    def test_a_first_save_makes_folder_and_file(self, environ):
        path = save_settings({"theme": "dark", ("llms", "gpt-4.1", "attempts"): 3}, environ=environ)
        settings = load_settings(environ=environ)
        assert settings.theme == "dark"
        assert settings.llms["gpt-4.1"].attempts == 3
        assert [one.name for one in path.parent.iterdir()] == ["settings.toml"]

    def test_an_llm_is_added_to_tables_that_are_written_in_one_line(self, environ, write):
        path = write('llms = {a = {model = "m"}}\n')
        save_settings({"llms.b.model": "n", "llms.b.headers": {"X-A": "1"}}, environ=environ)
        settings = load_settings(environ=environ)
        assert (settings.llms["a"].model, settings.llms["b"].model) == ("m", "n")
        assert dict(settings.llms["b"].headers) == {"X-A": "1"}
        assert path.read_text().startswith('llms = {a = {model = "m"},')

    @pytest.mark.parametrize(
        ("changes", "more"),
        [
            ({"llms.slow.model": "m"}, 'llms.slow.model = "m"'),
            (
                {"llms.slow.model": "m", "llms.slow.body": {"a": {"b": 3}}},
                'llms.slow = {model = "m", body.a.b = 3}',
            ),
            ({"llms.fast.headers": {"X-A": "1"}}, 'llms.fast.headers.X-A = "1"'),
            ({"purposes.plan.llm": "m", "viewport": "800x600"}, 'purposes.plan.llm="m"\nviewport="800x600"'),
        ],
    )
    def test_a_file_with_dotted_keys_says_what_it_said_and_the_changes(self, environ, write, changes, more):
        text = 'llms.fast.model = "q"\n# why\ntheme = "light"\npurposes.decide.llm = "q"\npace = 1.0\n'
        path = write(text)
        save_settings(changes, environ=environ)
        assert tomllib.loads(path.read_text()) == tomllib.loads(text + more)
        assert "# why" in path.read_text()

    def test_a_file_that_would_say_something_else_is_not_written(self, environ, write, monkeypatch):
        path = write('llm = "a"\n')
        monkeypatch.setattr(tomlkit, "dumps", lambda _: 'llm = "b"\ntheme = "dark"\n')
        with pytest.raises(DataError, match="cannot be changed without changing other settings"):
            save_settings({"llm": "b"}, environ=environ)
        assert path.read_text() == 'llm = "a"\n'

    @pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
    def test_the_ends_of_lines_and_a_byte_order_mark_stay(self, environ, write, mark):
        path = write(mark + b'[llms.fast]\r\nmodel = "q" # x\r\n')
        save_settings({"llms.fast.model": "m"}, environ=environ)
        assert path.read_bytes() == mark + b'[llms.fast]\r\nmodel = "m" # x\r\n'

    def test_none_takes_a_key_out(self, environ, write):
        path = write('llm = "a"\ntheme = "dark"\n')
        save_settings({"theme": None, "llms.none.model": None}, environ=environ)
        assert path.read_text() == 'llm = "a"\n'

    def test_a_list_keeps_the_comments_of_the_entries_that_stay(self, environ, write):
        path = write('task_files = [\n  "/a",  # first\n  "/b",\n]\n\n[llms.fast]\nmodel = "m"\n')
        save_settings({"task_files": ["/a", "/c"], "webarena": ["/w"]}, environ=environ)
        assert '"/a",  # first' in path.read_text()
        settings = load_settings(environ=environ)
        assert [str(one) for one in settings.task_files] == ["/a", "/c"]
        assert [str(one) for one in settings.webarena] == ["/w"]
        assert settings.llms["fast"].model == "m"

    @pytest.mark.parametrize("change", [{"max_steps": 0}, {"api_key": "sk-1"}, {"llms.fast.key": "sk-1"}])
    def test_what_is_not_valid_is_not_written(self, environ, write, change):
        path = write('llm = "a"\n')
        with pytest.raises(DataError):
            save_settings(change, environ=environ)
        assert path.read_text() == 'llm = "a"\n'

    def test_a_file_that_was_already_wrong_is_left_alone(self, environ, write):
        path = write("llm = \n")
        with pytest.raises(DataError, match="line 1"):
            save_settings({"llm": "b"}, environ=environ)
        assert path.read_text() == "llm = \n"

    def test_a_link_stays_a_link_and_its_file_keeps_its_rights(self, environ, write, tmp_path):
        path = write("")
        real = tmp_path / "dotfiles.toml"
        real.write_text('llm = "a"\n')
        real.chmod(0o600)
        path.unlink()
        path.symlink_to(real)
        save_settings({"llm": "b"}, environ=environ)
        assert path.is_symlink()
        assert real.read_text() == 'llm = "b"\n'
        assert stat.S_IMODE(real.stat().st_mode) == 0o600

    def test_a_folder_that_cannot_be_made_is_a_sentence(self, tmp_path):
        (tmp_path / "file").write_text("")
        environ = {"BACKSTEP_CONFIG_DIR": str(tmp_path / "file" / "config")}
        with pytest.raises(DataError, match="cannot be written"):
            save_settings({"llm": "b"}, environ=environ)

    def test_a_failed_replacement_leaves_the_old_file_and_nothing_else(self, environ, write, monkeypatch):
        path = write('llm = "a"\n')

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match="No space left on device"):
            save_settings({"llm": "b"}, environ=environ)
        assert [one.name for one in path.parent.iterdir()] == ["settings.toml"]
        assert path.read_text() == 'llm = "a"\n'
