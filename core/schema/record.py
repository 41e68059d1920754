"""The base of every record that travels: frozen, closed, compared by value."""

from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic_core import SchemaValidator, core_schema


class Record(BaseModel):
    """A frozen pydantic model that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def replace(self, /, **changes: Any) -> Self:
        """Return a copy with these fields changed, each validated as the constructor would.

        The other fields are kept as they are; only a record with model validators is validated whole as well. The
        changed fields count as set. Raises pydantic's ValidationError for a name that is no field and for a value
        that does not fit.
        """
        cls = type(self)
        changed = self.model_copy(update=_field_validator(cls).validate_python(changes))
        if cls.__pydantic_decorators__.model_validators:
            cls.model_validate(changed.__dict__, by_alias=False, by_name=True)
        return changed


@cache
def _field_validator(cls: type[Record]) -> SchemaValidator:
    """Return a validator of a mapping that holds any of the fields of `cls`."""
    schema: Any = cls.__pydantic_core_schema__
    definitions: list[Any] = schema.get("definitions", [])
    config: core_schema.CoreConfig = {}
    while schema["type"] != "model-fields":
        if schema["type"] == "model":
            config = schema["config"]
        if schema["type"] == "definition-ref":
            schema = next(one for one in definitions if one["ref"] == schema["schema_ref"])
        else:
            schema = schema["schema"]
    fields = {}
    for name, field in schema["fields"].items():
        inner = field["schema"]["schema"] if field["schema"]["type"] == "default" else field["schema"]
        fields[name] = core_schema.typed_dict_field(inner, required=False)
    changes = core_schema.typed_dict_schema(
        fields, cls_name=cls.__name__, extra_behavior="forbid", config=config
    )
    return SchemaValidator(core_schema.definitions_schema(changes, definitions) if definitions else changes)
