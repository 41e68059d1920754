"""The base of every record that travels: frozen, closed, compared by value."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen pydantic model that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def replace(self, /, **changes: Any) -> Self:
        """Return a copy with these fields changed, each validated as the constructor would.

        The other fields are kept as they are, though the record is validated whole. The changed fields count as
        set. Raises pydantic's ValidationError for a name that is no field and for a value
        that does not fit.
        """
        cls = type(self)
        values = {name: getattr(self, name) for name in cls.model_fields}
        whole = cls.model_validate(values | changes, by_alias=False, by_name=True)
        return self.model_copy(update={name: getattr(whole, name) for name in changes})
