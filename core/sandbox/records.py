"""What goes into a run of a parser, what comes out, and whether this system can confine one."""

from pydantic import Field

from core.schema.record import Record

MIB = 1024 * 1024


class SandboxLimits(Record):
    """What a parser may use. Reaching a limit ends the run with an error that names it."""

    seconds: float = Field(default=5.0, gt=0)
    """On the clock, from the moment the code starts; loading Python before it does not count."""
    memory: int = Field(default=512 * MIB, ge=128 * MIB)
    """Bytes of address space, of which Python with bs4 and lxml takes about 60 MiB."""
    output: int = Field(default=64_000, gt=0)
    """Bytes of the result in UTF-8."""


class Parsed(Record):
    """What a parser made of a page: a text or an error, never both and never neither."""

    text: str = ""
    seconds: float = 0.0
    """How long the code ran; 0 where it was never started."""
    error: str = ""
    """One sentence for the person and the LLM, or nothing."""


class Confinement(Record):
    """Whether this system can keep a parser from everything but its input and its answer."""

    is_confined: bool
    means: str = ""
    """What confines it, for example "seccomp filter, Landlock 7, resource limits"."""
    reason: str = ""
    """Why parsers cannot run here, in one sentence; nothing where they can."""
