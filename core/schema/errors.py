"""The family of errors.

BackstepError                 any failure a user can do something about; its text is one sentence
├── UsageError                a wrong flag, name or value the user gave
├── DataError                 a file of the user's (settings, tasks, presets, spaces) that cannot be read
├── WorldError                the world outside failed; a run ends with exit code 3
│   ├── BrowserError          the browser is missing, has died or does not answer
│   ├── LLMError              the LLM endpoint failed, after retries
│   │   ├── LLMRefused        no call to it will go better: a wrong key, a spent quota, no such model
│   │   └── PromptTooLong     the prompt has more tokens than the LLM takes
│   └── StoreError            a database is locked, full, damaged, read-only or too new
│       ├── TraceError        that of the traces
│       │   └── NotInTraceError   it has no run, or no step, of that number
│       └── LibraryError      that of the exemplars
│           └── NotInLibraryError   it has no exemplar, or no version, of that name
├── ActionError               an action could not be carried out in the page; becomes a failed step
│   └── ElementGone           its element was in the page when it was read, and is no longer
├── ActionSyntaxError         a text that is not an action
└── Interrupted               the person stopped it
"""


class BackstepError(Exception):
    """The base: `str(error)` is one sentence that says what, where and what to do."""


class UsageError(BackstepError):
    pass


class DataError(BackstepError):
    problems: tuple[tuple[int, str], ...] = ()
    """The first that are known to be wrong in the file, each with its line, from 1; the sentence is about the first."""


class WorldError(BackstepError):
    pass


class BrowserError(WorldError):
    pass


class LLMError(WorldError):
    pass


class LLMRefused(LLMError):
    pass


class PromptTooLong(LLMError):
    pass


class StoreError(WorldError):
    pass


class TraceError(StoreError):
    pass


class NotInTraceError(TraceError):
    pass


class LibraryError(StoreError):
    pass


class NotInLibraryError(LibraryError):
    pass


class ActionError(BackstepError):
    pass


class ElementGone(ActionError):
    pass


class ActionSyntaxError(BackstepError):
    pass


class Interrupted(BackstepError):
    pass
