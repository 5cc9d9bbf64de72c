"""Types of messages, declared by dataclasses.

    @sinew.message("robot/Image")
    class Image:
        height: sinew.uint32 = 0
        width: sinew.uint32 = 0
        encoding: str = ""
        data: NDArray[np.uint8] = dataclasses.field(default_factory=lambda: np.empty(0, np.uint8))

| annotation | in messages |
| --- | --- |
| `bool`, `str` | `bool`, `string` |
| `int`, `float` | `int64`, `float64`; `sinew.uint8`, `sinew.float32` and the like are what they say |
| `bytes` | `uint8[]` |
| `list[T]`, `NDArray[np.float32]` | `T[]`, `float32[]` |
| `sinew.Array[T, 9]` | `T[9]`; type checkers want `sinew.Array[T, Literal[9]]` |
| `Optional[T]` | `T?` |
| a dataclass | a structure of the same name |
| an `enum.IntEnum` | an enumeration of `int32`, as in C++; `sinew.enumeration` says another |

Two programs understand each other when their types have the same fields: names, types and order.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from typing import TYPE_CHECKING, Annotated, Any, Callable, Iterator, List, Optional, Type, TypeVar, Union, overload

from ._values import equal

if TYPE_CHECKING:
    from typing import Protocol

    from typing_extensions import dataclass_transform
elif sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda decorator: decorator


__all__ = [
    "Array",
    "enumeration",
    "float32",
    "float64",
    "int16",
    "int32",
    "int64",
    "int8",
    "message",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]

T = TypeVar("T")
E = TypeVar("E", bound=Type[enum.IntEnum])


@dataclasses.dataclass(frozen=True)
class Number:
    """The kind of a number, in an annotation."""

    kind: str


int8 = Annotated[int, Number("int8")]
int16 = Annotated[int, Number("int16")]
int32 = Annotated[int, Number("int32")]
int64 = Annotated[int, Number("int64")]
uint8 = Annotated[int, Number("uint8")]
uint16 = Annotated[int, Number("uint16")]
uint32 = Annotated[int, Number("uint32")]
uint64 = Annotated[int, Number("uint64")]
float32 = Annotated[float, Number("float32")]
float64 = Annotated[float, Number("float64")]


if TYPE_CHECKING:
    Element = TypeVar("Element", covariant=True)
    Count = TypeVar("Count", covariant=True)

    class Array(Protocol[Element, Count]):
        """So many elements, no more and no less: a list, a tuple or a NumPy array."""

        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __getitem__(self, index: Any, /) -> Any: ...

else:

    class Array:
        """So many elements, no more and no less: a list, a tuple or a NumPy array."""

        def __class_getitem__(cls, arguments):
            if not isinstance(arguments, tuple) or len(arguments) != 2:
                raise TypeError("sinew.Array has an element and a length: sinew.Array[sinew.float32, 9]")
            return Annotated[List[arguments[0]], Length(_number_of(arguments[1]))]


@dataclasses.dataclass(frozen=True)
class Length:
    """Of the list or NDArray that is annotated, which is an array of this many then."""

    count: int


def _number_of(length: Any) -> int:
    length = getattr(length, "__args__", (length,))[0]  # of Literal[9]
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise TypeError(f"sinew.Array[..., {length!r}]: the length is a number above 0")
    return length


@overload
def message(name: str) -> Callable[[Type[T]], Type[T]]: ...
@overload
def message(name: Type[T]) -> Type[T]: ...
@dataclass_transform(field_specifiers=(dataclasses.field,))
def message(name: Union[str, Type[T]]) -> Union[Type[T], Callable[[Type[T]], Type[T]]]:
    """Makes a class a dataclass, and gives its messages a name: `@sinew.message("robot/Image")`. Without a name, or as a plain dataclass, it has that of the class.

    What cannot be a message is said, by a TypeError, where one is published or subscribed to.
    """
    from . import _signature

    def decorate(cls: Type[T], called: Optional[str]) -> Type[T]:
        made = cls
        if "__dataclass_fields__" not in vars(cls):
            made = dataclasses.dataclass(eq=False)(cls)
            if "__eq__" not in vars(cls):
                # Of arrays, too, which dataclasses cannot compare.
                setattr(made, "__eq__", equal)
                setattr(made, "__hash__", None)
        if called is not None:
            _signature.check_name(called, cls)
        setattr(made, "__sinew_name__", called or cls.__name__)
        return made

    if isinstance(name, str):
        return lambda cls: decorate(cls, name)
    return decorate(name, None)


def enumeration(number: Any, name: Optional[str] = None) -> Callable[[E], E]:
    """What integer an enumeration is in messages, and its name there: `@sinew.enumeration(sinew.uint8)` above `class Mode(enum.IntEnum)`."""
    from . import _signature

    kind = _signature.integer_of(number)

    def decorate(cls: E) -> E:
        if name is not None:
            _signature.check_name(name, cls)
            setattr(cls, "__sinew_name__", name)
        setattr(cls, "__sinew_number__", kind)
        return cls

    return decorate
