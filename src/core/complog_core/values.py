"""NamedTuple as `typing` has it, made at a tenth of its cost: making the engine's values was a fifth of its import."""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # private to namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature
    from typing import NamedTuple

__all__ = ["NamedTuple"]


class _SignatureOnDemand:
    """What `inspect.signature` finds on the class."""

    def __get__(self, value: object, owner: type[_Value]) -> Signature:
        from inspect import Parameter, Signature

        defaults, hints = owner._field_defaults, owner.__annotations__
        kind = Parameter.POSITIONAL_OR_KEYWORD
        return Signature(
            [
                Parameter(it, kind, default=defaults.get(it, Parameter.empty), annotation=hints[it])
                for it in owner._fields
            ]
        )


_new = tuple.__new__


class _Value(tuple[Any, ...]):
    __slots__ = ()
    __signature__ = _SignatureOnDemand()
    _fields: tuple[str, ...] = ()
    _field_defaults: dict[str, Any] = {}  # noqa: RUF012 - named as namedtuple has it
    _tail: tuple[Any, ...] = ()
    _size = 0

    def __new__(cls, *values: Any, **named: Any) -> Any:
        if len(values) == cls._size and not named:
            return _new(cls, values)
        missing = len(cls._fields) - len(values)
        if named or missing < 0 or missing > len(cls._tail):
            values += tuple(cls._complete(len(values), named))
        elif missing:
            values += cls._tail[-missing:]
        return _new(cls, values)

    @classmethod
    def _complete(cls, given: int, named: dict[str, Any]) -> list[Any]:
        defaults = cls._field_defaults
        rest = cls._fields[given:]
        try:
            values = [named.pop(name) if name in named else defaults[name] for name in rest]
        except KeyError as missing:
            what = f"it lacks {missing.args[0]}"
        else:
            if not named and given <= len(cls._fields):
                return values
            what = f"it has no {', '.join(named)} left" if named else f"it takes {len(cls._fields)} values, not {given}"
        raise TypeError(f"{cls.__qualname__}(): {what}; its fields are {', '.join(cls._fields)}")

    @classmethod
    def _make(cls, values: Any) -> Any:
        return cls(*values)

    def _replace(self, **changed: Any) -> Any:
        values = [changed.pop(name, value) for name, value in zip(self._fields, self, strict=True)]
        if changed:
            raise ValueError(f"{type(self).__qualname__} has no {', '.join(changed)}")
        return tuple.__new__(type(self), values)

    __replace__ = _replace  # copy.replace

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({inner})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class _Maker(type):
    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
        fields = tuple(namespace.get("__annotations__", ()))
        defaults = {field: namespace[field] for field in fields if field in namespace}
        namespace |= {field: _tuplegetter(place, field) for place, field in enumerate(fields)}
        namespace |= {"_size": len(fields), "_tail": tuple(defaults.values())}
        namespace |= {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields, "__slots__": ()}
        return type(name, (_Value,), namespace)


if not TYPE_CHECKING:
    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
