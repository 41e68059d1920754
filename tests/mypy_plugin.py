"""A plugin of mypy that checks `Record.replace`: one optional keyword per field, of the field's type."""

from collections.abc import Callable

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_NAMED_OPT, Var
from mypy.plugin import MethodSigContext, Plugin
from mypy.types import CallableType, FunctionLike, Instance, Type, TypeVarType, get_proper_type
from pydantic.mypy import METADATA_KEY

RECORD = "core.schema.record.Record"


class RecordPlugin(Plugin):
    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _replace if fullname.endswith(".replace") else None


def _replace(context: MethodSigContext) -> FunctionLike:
    record = get_proper_type(context.type)
    if isinstance(record, TypeVarType):
        record = get_proper_type(record.upper_bound)
    signature = context.default_signature
    if not (
        isinstance(record, Instance)
        and isinstance(signature, CallableType)
        and record.type.fullname != RECORD
        and record.type.has_base(RECORD)
    ):
        return signature
    types = {name: _type_of(record, name) for name in record.type.metadata[METADATA_KEY]["fields"]}
    return signature.copy_modified(
        arg_names=list(types), arg_types=list(types.values()), arg_kinds=[ARG_NAMED_OPT] * len(types)
    )


def _type_of(record: Instance, field: str) -> Type:
    """Return the type of a field, with what the parameters of a generic record stand for."""
    symbol = record.type[field].node
    assert isinstance(symbol, Var)
    assert symbol.type is not None
    return expand_type_by_instance(symbol.type, map_instance_to_supertype(record, symbol.info))


def plugin(version: str) -> type[Plugin]:
    return RecordPlugin
