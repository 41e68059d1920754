"""The policy stack of a run: the policy at work, the calls that led to it, and what each policy has done and found.

All of it is frozen: an operation returns the new stack, so the stack of any step can be stored and restored.
A frame is one call of a policy. Its history contains only its own steps. The result of a policy that it
called is in the result of the calling step.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from pydantic import Field

from core.agent.policies.call import Call
from core.schema.messages import Turn
from core.schema.observation import Observation
from core.schema.record import Record
from core.schema.step import FrameState

CALLED = "called; it has not come back"
"""The result of a call as long as the called policy works."""
LEFT = "left before its end: the run went back to a step before it"


NOTHING = "came back, with nothing to tell"
"""The outcome of a policy that returned nothing."""


class SeenPage(Record):
    """A page as it looked. Two are the same if URL and fingerprint are equal."""

    url: str = ""
    fingerprint: str = ""


class Frame(Record):
    """One call of a policy."""

    number: int
    """Which frame of the run it is, from 1 in the order of their beginning."""
    policy: str
    """The policy's id."""
    name: str
    """The name it was called by."""
    arguments: tuple[str, ...] = ()
    caller: int | None = None
    """The number of the frame that called it."""
    call: int = 0
    """Which call of the run it is, from 1; 0 for a frame that nobody called."""
    step: int = 1
    """The step that called it; for the first frame the one it began at."""
    began_on: SeenPage = SeenPage()
    history: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    seen: tuple[SeenPage, ...] = ()
    """The pages it has visited, each once, in the order of the first visits."""
    state: FrameState = "active"
    answer: str = ""
    """What it came back with; where it lacked something, what it had found by then."""
    lacked: str = ""
    ended_at: int | None = None
    """The step it ended at."""
    brought_news: bool = False
    """Whether it came back on a page that its caller had not seen."""
    caller_had_seen: int = 0
    """How many pages its caller had seen when it came back, that one among them."""
    remark: str = ""
    """What has to be said of the replies that called and ended it: what they asked for besides, and was not done."""

    @property
    def written(self) -> str:
        """The call as it is written, as in ``find_order [the last one of Ann]``."""
        return str(Call(name=self.name, arguments=self.arguments))

    @property
    def outcome(self) -> str:
        """What the caller is told of it."""
        return f"{self._outcome.removesuffix('.')}. {self.remark}" if self.remark else self._outcome

    @property
    def _outcome(self) -> str:
        if self.state == "active":
            return CALLED
        if self.state == "left":
            return LEFT
        if self.state == "returned":
            return f"came back with: {self.answer}" if self.answer else NOTHING
        found = f" Until then it had found: {self.answer}" if self.answer else ""
        return f"could not go on. It lacked: {self.lacked}{found}"


def place_of_page(observation: Observation) -> SeenPage:
    """Return the page of an observation: its URL, and a fingerprint of what a person could see and use.

    Refs, the focus and the scroll position do not count; what is typed,
    checked or chosen does.
    """
    lines = [
        "\t".join(
            (
                element.role,
                element.name,
                element.value,
                # Most elements of a large page have neither.
                " ".join(state for state in element.states if state != "focused") if element.states else "",
                "|".join(option.label for option in element.options if option.selected)
                if element.options
                else "",
            )
        )
        for element in observation.elements
    ]
    text = "\n".join([observation.title, *lines]).encode("utf-8", "replace")
    return SeenPage(url=observation.url, fingerprint=sha256(text).hexdigest()[:16])


# The stack


class StackLimits(Record):
    """Limits of policy calls. A call beyond them is refused, and its caller is told."""

    depth: int = Field(default=8, ge=1)
    """Frames on the stack, the first among them."""
    calls: int = Field(default=40, ge=0)
    """Calls in a run; the first frame is not one."""


class Refusal(Record):
    """A refused call."""

    kind: Literal["loop", "limit"]
    """A loop is a gate; beyond a limit the step has failed."""
    sentence: str
    frame: int | None = None
    """For a loop, the frame that is the same call."""


class Stack(Record):
    """The chain of frames at work, the acting one last, and those that have ended."""

    frames: tuple[Frame, ...] = ()
    finished: tuple[Frame, ...] = ()
    """In the order they ended; they are kept for whoever wants to see them."""
    limits: StackLimits = StackLimits()

    @property
    def top(self) -> Frame | None:
        """The frame that acts."""
        return self.frames[-1] if self.frames else None

    @property
    def calls(self) -> int:
        """Calls made in the run so far."""
        return max((frame.call for frame in (*self.frames, *self.finished)), default=0)

    @property
    def result(self) -> Frame | None:
        """The first frame once it has ended: its answer is the run's."""
        return self.finished[-1] if self.finished and not self.frames else None

    def frame(self, number: int) -> Frame | None:
        """Return the frame of that number, at work or ended."""
        return next((one for one in (*self.frames, *self.finished) if one.number == number), None)

    def called_by(self, number: int) -> tuple[Frame, ...]:
        """Return the ended frames that this one has called, in the order of their calls."""
        found = [one for one in self.finished if one.caller == number]
        return tuple(sorted(found, key=lambda one: one.number))

    # Operations

    def begin(
        self, policy: str, name: str, arguments: Iterable[str], *, step: int, page: SeenPage
    ) -> "Stack":
        """Return a stack with the run's first frame; earlier frames are finished and kept.

        It is also how a new trial begins.
        """
        left = self.left(step=step)
        first = Frame(
            number=self._next_number(),
            policy=policy,
            name=name,
            arguments=tuple(arguments),
            step=step,
            began_on=page,
            seen=(page,),
        )
        return left.replace(frames=(first,))

    def left(self, *, step: int) -> "Stack":
        """Return the stack with no policy at work: all that were have been left."""
        ended = tuple(_end(frame, state="left", step=step) for frame in reversed(self.frames))
        return self.replace(frames=(), finished=(*self.finished, *ended))

    def push(
        self,
        policy: str,
        name: str,
        arguments: Iterable[str],
        *,
        step: int,
        page: SeenPage,
        thought: str = "",
        remark: str = "",
    ) -> "Stack | Refusal":
        """Return the stack with a frame of `policy` on top, or why it would be beyond the limits.

        The caller's history gets the step that calls. `page` is the page of
        the call. Whether it is a loop is for `refusal` to say before.
        """
        caller = self._acting()
        arguments = tuple(arguments)
        if (refusal := self._limit(name)) is not None:
            return refusal
        child = Frame(
            number=self._next_number(),
            policy=policy,
            name=name,
            arguments=arguments,
            caller=caller.number,
            call=self.calls + 1,
            step=step,
            began_on=page,
            seen=(page,),
            remark=remark,
        )
        turn = Turn(number=step, thought=thought, action=child.written, result=child.outcome, url=page.url)
        calling = _seeing(caller, page).replace(history=(*caller.history, turn))
        return self.replace(frames=(*self.frames[:-1], calling, child))

    def stop(
        self,
        *,
        step: int,
        page: SeenPage,
        answer: str = "",
        lacked: str = "",
        thought: str = "",
        remark: str = "",
    ) -> "Stack":
        """Return the stack without the frame on top, whose caller is told the answer or what it lacked.

        With the first frame the stack is empty, and `result` has it.
        """
        ending = self._acting()
        answer, lacked = answer.strip(), lacked.strip()
        arguments = (answer, lacked) if lacked else (answer,)
        turn = Turn(
            number=step,
            thought=thought,
            action=str(Call(name="stop", arguments=arguments)),
            result="done",
            url=page.url,
        )
        ending = _seeing(ending, page).replace(history=(*ending.history, turn))
        state: FrameState = "lacked" if lacked else "returned"
        remark = f"{ending.remark} {remark}".strip()
        ended = _end(ending, state=state, step=step).replace(answer=answer, lacked=lacked, remark=remark)
        if len(self.frames) == 1:
            return self.replace(frames=(), finished=(*self.finished, ended))
        caller = self.frames[-2]
        updated = _seeing(caller, page)
        ended = ended.replace(brought_news=page not in caller.seen, caller_had_seen=len(updated.seen))
        updated = _with_outcome(updated, ended)
        return self.replace(frames=(*self.frames[:-2], updated), finished=(*self.finished, ended))

    def record(self, turn: Turn, page: SeenPage | None = None) -> "Stack":
        """Return the stack with a step of the acting frame; `page` is the page after it, if it was one's."""
        acting = self._acting()
        if page is not None:
            acting = _seeing(acting, page)
        return self._with_top(acting.replace(history=(*acting.history, turn)))

    def edited(self, frame: Frame) -> "Stack":
        """Return the stack with this frame in place of the one of its number; its caller's history tells it so."""
        before = self.frame(frame.number)

        def told(turn: Turn) -> Turn:
            if before is None or (turn.number, turn.action) != (before.step, before.written):
                return turn
            return turn.replace(action=frame.written, result=frame.outcome)

        def changed(one: Frame) -> Frame:
            if one.number == frame.number:
                return frame
            caller = one.number == frame.caller
            return one.replace(history=tuple(told(turn) for turn in one.history)) if caller else one

        return self.replace(
            frames=tuple(changed(one) for one in self.frames),
            finished=tuple(changed(one) for one in self.finished),
        )

    def note(self, text: str) -> "Stack":
        """Return the stack with a note of the acting frame."""
        acting = self._acting()
        return self._with_top(acting.replace(notes=(*acting.notes, text)))

    def back_to(self, earlier: "Stack", *, step: int) -> "Stack":
        """Return the chain of calls of `earlier`, where each frame keeps what it has learnt since.

        For going back to a remedy: histories, notes and the count of calls run
        on. Frames called since have ended, as left; frames that had ended
        since are at work again.
        """
        wanted = {one.number for one in earlier.frames}
        frames: list[Frame] = []
        for old in earlier.frames:
            now = self.frame(old.number) or old
            again = now.replace(
                state="active",
                answer="",
                lacked="",
                ended_at=None,
                brought_news=False,
                caller_had_seen=0,
            )
            frames.append(again)
        left = [
            _end(one, state="left", step=step) for one in reversed(self.frames) if one.number not in wanted
        ]
        finished = (*(one for one in self.finished if one.number not in wanted), *left)
        for index, frame in enumerate(frames):
            for child in (*frames[index + 1 : index + 2], *left):
                if child.caller == frame.number:
                    frames[index] = frame = _with_outcome(frame, child)
        return self.replace(frames=tuple(frames), finished=finished)

    # Limits and loops

    def refusal(self, policy: str, name: str, arguments: Iterable[str], page: SeenPage) -> Refusal | None:
        """Return why this call would be refused now, or None.

        The same call is the same policy with equal arguments, whatever their
        blanks and capitals, on the same page. It is a loop

        - while an equal frame is at work anywhere on the stack, and
        - where the caller has made it before and nothing new has come of it:
          since then the caller has come to no page that it had not seen, nor
          did the policy, if it succeeded, come back on one.
        """
        arguments = tuple(arguments)
        same = self._same_call(policy, arguments, page)
        if same is None:
            return self._limit(name)
        what = f"frame {same.number}, {same.written}, "
        if same.state == "active":
            what += "is still at work"
        elif same.state == "lacked":
            what += f"came back for lack of: {same.lacked}"
        else:
            what += "was the same call"
        written = str(Call(name=name, arguments=arguments))
        return Refusal(
            kind="loop",
            sentence=f"{written} is a loop: {what}, on the same page {page.url}, and nothing has changed since.",
            frame=same.number,
        )

    @property
    def limit_reached(self) -> str:
        """Why no policy at all can be called now, or empty."""
        if len(self.frames) >= self.limits.depth:
            return f"policies are nested {len(self.frames)} deep, which is the limit."
        most = self.limits.calls
        return (
            f"the run has made {most} call{'s' if most != 1 else ''}, which is the limit."
            if self.calls >= most
            else ""
        )

    def limit_sentence(self, name: str) -> str:
        """Return why a policy cannot be called now, or nothing if no limit is reached."""
        reached = self.limit_reached
        advice = "Do it yourself, or stop with what is lacking."
        return f"{name} cannot be called: {reached} {advice}" if reached else ""

    def _limit(self, name: str) -> Refusal | None:
        """Return the refusal of a call beyond the limits, or None."""
        sentence = self.limit_sentence(name)
        return Refusal(kind="limit", sentence=sentence) if sentence else None

    def _same_call(self, policy: str, arguments: tuple[str, ...], page: SeenPage) -> Frame | None:
        wanted = (policy, _plain(arguments), page)
        for frame in reversed(self.frames):
            if (frame.policy, _plain(frame.arguments), frame.began_on) == wanted:
                return frame
        caller = self.top
        if caller is None:
            return None
        for child in reversed(self.called_by(caller.number)):
            if (child.policy, _plain(child.arguments), child.began_on) != wanted or child.state == "left":
                continue
            went_on = len(caller.seen) > child.caller_had_seen
            succeeded = child.state == "returned" and child.brought_news
            return None if went_on or succeeded else child
        return None

    # Helpers

    def _acting(self) -> Frame:
        if not self.frames:
            raise ValueError("No policy is at work.")
        return self.frames[-1]

    def _next_number(self) -> int:
        return max((one.number for one in (*self.frames, *self.finished)), default=0) + 1

    def _with_top(self, frame: Frame) -> "Stack":
        return self.replace(frames=(*self.frames[:-1], frame))


def _plain(arguments: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(argument.split()).casefold() for argument in arguments)


def _end(frame: Frame, *, state: FrameState, step: int) -> Frame:
    return frame.replace(state=state, ended_at=step)


def _seeing(frame: Frame, page: SeenPage) -> Frame:
    return frame if page in frame.seen else frame.replace(seen=(*frame.seen, page))


def _with_outcome(caller: Frame, child: Frame) -> Frame:
    """Return the caller with what it is told of the child, in the step that called it."""
    history = tuple(
        turn.replace(result=child.outcome)
        if turn.number == child.step and turn.action == child.written
        else turn
        for turn in caller.history
    )
    return caller.replace(history=history)
