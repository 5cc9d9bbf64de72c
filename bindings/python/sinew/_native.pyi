"""The native half of sinew: nodes, messages and types, on the C interface (bindings/c/sinew.h).

Times that are given are seconds (`float`), `None` is for ever; points in time that are told are nanoseconds of `time.monotonic_ns()`.
Everything may be used by any thread. What waits lets other threads run and ends with KeyboardInterrupt on Ctrl-C; but what asks the manager (Node(), what is created of one, domain(), counters()) goes on until that answers, some seconds at most, and publishing as long as `max_blocking` lets it.
Closing waits for callbacks that run, whatever they wait for: give what may be long in coming in them a timeout.
Callbacks run on execution threads of the node, one at a time; what they raise goes to `sys.unraisablehook`, whose `object` shows what was called and by whom, and has it as `function`.
"""
# Long because: it is the interface of one module and its manual.

from concurrent.futures import Future
from typing import Any, AsyncIterator, Callable, Generator, Generic, Iterator, Mapping, Optional, Sequence as AnySequence, Tuple, Type as Class, TypeVar, Union, overload

import numpy
from typing_extensions import Self, TypedDict, Unpack

from .qos import Qos

# --- what can go wrong ----------------------------------------------------------------------------------------------------------------

class Error(Exception):
    """Something that sinew could not do; its text says what was asked, what is there, what to do."""

    kind: str
    """What the caller can do about it, as SINEW_... in sinew.h in small letters: "type_mismatch"."""

class InvalidArgument(Error, ValueError):
    """The call itself is wrong (a bad name, a bad option): fix the call."""
class NameTaken(Error):
    """Another node of the domain has this name: choose another, or set SINEW_NODE."""
class TypeMismatch(Error, TypeError):
    """The topic carries another type: the text names the first field that differs."""
class Incompatible(Error):
    """The other side speaks another version of sinew."""
class Unavailable(Error, ConnectionError):
    """No manager could be reached or started, it does not answer, or the topic that a ghost is for is not there."""
class Denied(Error, PermissionError):
    """This user or group may not take part in this domain, or not in this topic: the text says which rule."""
class Exhausted(Error):
    """A limit or the machine's memory is used up: free something, or raise the limit."""
class Disconnected(Error, ConnectionError):
    """The node was destroyed, or there is no manager at the moment: the node seeks one, try again."""
class SystemFailure(Error, OSError):
    """A system call failed; the text has errno."""
class NoMemory(Error, MemoryError):
    """The publisher's memory, or the machine's, is used up. Not published; counted."""
class WouldBlock(Error, TimeoutError):
    """A reliable keep-all subscriber did not catch up within max_blocking. Not published; counted."""
class InvalidMessage(Error, ValueError):
    """What was given is no stream. Not published; counted."""
class Closed(Error):
    """It, or its node, is closed, or belongs to the process that this one was forked from, or the topic of a ghost is gone."""
class Timeout(Error, TimeoutError):
    """No message, topic or answer came in time."""
class CallFailed(Error):
    """The provider answered with an error: the text is what it said."""
class Cancelled(Error):
    """The call was cancelled, or its client closed."""
class Lost(Error):
    """A provider that executes no request twice has gone, or a message was lost. The request was executed, or not."""

class DecodeError(InvalidMessage):
    """A received stream is not of its type. Messages are decoded when they are looked at, so looking raises it."""
class EncodeError(Error, TypeError, ValueError):
    """A value does not fit its type; the text begins with the path: "header.stamp: 70000 does not fit uint16". Its kind is "invalid_argument"."""

# --- types ----------------------------------------------------------------------------------------------------------------------------

class Type:
    """A type of messages, immutable. Parses a signature (spec/types.md, 3); InvalidArgument when it is none. Equal when what they transfer is equal, whatever structures are called."""

    def __init__(self, signature: str) -> None: ...
    @property
    def signature(self) -> str:
        """With names: "robot/Point{x:float64;}"."""
    @property
    def name(self) -> str:
        """"robot/Point", "float64[]"."""
    @property
    def kind(self) -> str:
        """"uint8" and the other numbers, "bool", "string", "enumeration", "vector", "array", "optional", "structure", "variant"."""
    @property
    def fields(self) -> Tuple[Tuple[str, Type], ...]:
        """Of a structure; of a variant its alternatives, named "0", "1" and so on; else empty."""
    @property
    def element(self) -> Optional[Type]:
        """Of a vector, array, optional, and, as its integer, of an enumeration."""
    @property
    def count(self) -> int:
        """Elements of an array; else 0."""
    @property
    def dtype(self) -> Optional[numpy.dtype]:
        """Of a number, an enumeration, or of a structure or array whose leaves are all such: what NumPy calls it, without padding."""
    def encode(self, value: Any) -> bytes:
        """The stream of a value, as `Publisher.publish` sends it."""
    def decode(self, stream: Any) -> Any:
        """A message in a copy of this stream (any bytes-like object)."""
    def draft(self, **fields: Any) -> Draft:
        """A value whose fields can be set, to be published."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

M = TypeVar("M")
"""Messages as they are declared: who gives a class where a type is wanted (a dataclass), has type checkers know the fields of what comes. It is a Message nevertheless."""
A = TypeVar("A")
AnyType = Any
"""Whatever sinew.type_of() takes."""


class Service(Generic[M, A]):
    """What type checkers take classes of sinew.msgs for that are services."""

# --- values ---------------------------------------------------------------------------------------------------------------------------

class Message:
    """A structure that was received, read-only; decoded field by field when looked at. Messages that are no structures, but a number or an array alone, are received as what a field of that type is.

    Fields are attributes, and items for names that Python reserves (`m["from"]`). A field is
    - a number, `bool`, `str` (bytes that are no UTF-8 are surrogates, as in os.fsdecode); an enumeration is its number;
    - a Message, for a structure;
    - a read-only numpy.ndarray, for a vector or array of numbers, of arrays of such (more dimensions), or of structures whose leaves are all numbers (a structured dtype: `cloud.points["x"]`).
      It is a view on the publisher's memory where the stream has it in one part and evenly spaced; else, and where bools are in it, a copy. It keeps that memory as long as it, or a view on it, lives: longer than the message,
      subscriber, node and publisher. A dtype of the other byte order where the publisher has that;
    - a Sequence of such, for other vectors and arrays;
    - a dict, for a map: a vector of `entry<K,V>` whose keys are numbers or strings;
    - None, or the value, for an optional;
    - the value, for a variant, and None for std/monostate. `_alternative(name)` tells which.

    In a forked child it is not there, as it lies in memory of others: its fields raise Closed, and an array of it ends the child (SIGSEGV). Give the child `pickle.dumps(message)`, or `array.copy()`, made before the fork.

    Two are equal when their types and values are. It can be pickled. A copy (`copy.deepcopy(m)`, `copy.copy(m)`) can be changed and published: it is a Draft that has all of its fields, in memory of its own.
    """

    def __init__(self, signature: str, stream: bytes) -> None:
        """As Type(signature).decode(stream)."""
    _type: Type
    _fields: Tuple[str, ...]
    def _alternative(self, name: str) -> int:
        """Which alternative of a variant the field has, from 0."""
    def _stream(self) -> bytes:
        """Its stream, encapsulation included."""
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __eq__(self, other: object) -> bool: ...
    def __copy__(self) -> Draft: ...
    def __deepcopy__(self, memo: Any) -> Draft: ...

class Sequence:
    """A vector or array in a message that is no ndarray: read-only, decoded element by element. A collections.abc.Sequence."""

    _type: Type
    def _alternative(self, index: int) -> int: ...
    def index(self, value: Any) -> int:
        """Where the first element is that equals this. ValueError where there is none."""
    def count(self, value: Any) -> int:
        """How many elements equal this."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object) -> bool: ...

class Draft:
    """A structure to be published: fields are set as attributes. Structures within are drafts as well: `draft.header.frame_id = "map"`. Others read as None until they are set; what is not set is published as its default.
    AttributeError for names that are no fields."""

    _type: Type
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __getitem__(self, name: str) -> Any: ...
    def __setitem__(self, name: str, value: Any) -> None: ...
    def __copy__(self) -> Draft: ...
    def __deepcopy__(self, memo: Any) -> Draft: ...

class Variant:
    """A value of a variant that says its alternative, for publishing. A plain value is of the first alternative that takes it."""

    def __init__(self, index: int, value: Any = None) -> None: ...
    index: int
    value: Any

def asdict(value: Union[Message, Sequence, Draft]) -> Any:
    """A deep copy in dicts, lists and arrays of its own; nothing of it keeps the publisher's memory. DecodeError when the stream is not of its type, also behind the end. Of a Draft: the fields that are set; lists in it, and objects of other classes, as copy.deepcopy() copies them."""

class MessageInfo:
    """How a message came."""

    publisher: str
    """The name of its node."""
    sequence: int
    source_time_ns: int
    receive_time_ns: int
    missed: int
    delivery: str
    """"view" or "copy"."""

# --- events --------------------------------------------------------------------------------------------------------------------------

class Event:
    """As sinew_event."""

    kind: str
    """"matched", "incompatible_qos", "deadline_missed", "liveliness_lost", "liveliness_changed", "message_lost", "detached"."""
    total_count: int
    total_count_change: int
    current_count: int
    current_count_change: int
    not_alive_count: int
    not_alive_count_change: int
    pushed_out: int
    withdrawn: int
    expired: int
    node: str
    text: str

# --- nodes ----------------------------------------------------------------------------------------------------------------------------

class PublisherOptions(TypedDict, total=False):
    """What `Node.create_publisher` takes beside topic and type."""

    qos: Union[None, int, Qos]
    """A number is the depth of a Qos that is otherwise the default."""
    memory_budget: int
    """Bytes of shared memory at most, 64 KiB or more; 0: 1 GiB."""
    prefault: int
    """Bytes of it to have from the start."""
    max_blocking: Optional[float]
    """Seconds that publishing may wait; None: 0.1; 0: not at all. Ctrl-C does not end that."""
    when_full: str
    """What makes room when the memory is full, after all that nobody wants any more: "withdraw" the oldest messages that were not taken yet; "withdraw_some", but at most `withdraw_at_most` for one new message, and then that is
    refused; "refuse" the new message; or it may "wait", at most max_blocking."""
    withdraw_at_most: int
    lock_memory: bool
    """Never swapped (mlock)."""
    ghost: Optional[str]
    """Only there as long as others are: "carrier", for gateways, which meets no other carrier, or "observer", for tools. On a topic that is not there: Unavailable."""
    on_event: Optional[Callable[[Event], object]]
    execution_thread: int
    """Callbacks of one execution thread never overlap; 0 to 1021. On 1022 the package hears of topics whose types it waits for."""

class SubscriberOptions(TypedDict, total=False):
    """What `Node.subscribe` takes beside topic, type and callback."""

    timeout: Optional[float]
    """Seconds to wait for the topic's type, where none is given, and when iterating for each message; None: for ever."""
    qos: Union[None, int, Qos]
    every: int
    """Every n-th message of each publisher; 0: all."""
    max_rate: float
    """Messages a second of each publisher at most, on average; 0: all."""
    ghost: Optional[str]
    on_event: Optional[Callable[[Event], object]]
    execution_thread: int

class ClientOptions(TypedDict, total=False):
    """What `Node.create_client` takes beside service and types."""

    timeout: Optional[float]
    """Seconds to wait for the service's types, where they are not given; None: for ever."""
    ghost: Optional[str]
    memory_budget: int
    """Bytes of shared memory for requests on their way at most; 0: 1 GiB."""

class ProviderOptions(TypedDict, total=False):
    """What `Node.provide` takes beside service, types and handler."""

    deferred: bool
    """The handler gets a Call, which it answers now or later, on any thread."""
    at_most_once: bool
    """Calls that it has taken, and not answered when it goes away, end with Lost; else others answer them."""
    memory_budget: int
    """Bytes of shared memory for responses at most, until clients let go of them; 0: 1 GiB."""
    ghost: Optional[str]
    execution_thread: int

class Node:
    """A process's part in a domain. May be a base class. Leaving a `with` block, `close()`, its end as an object and the end of the program take it out of the domain; what was created of it then does nothing any more.

    It keeps what it calls back (subscribers, providers, timers, watches) until that is closed, so their results need not be kept.
    Of `by_caller` nodes, callbacks of execution thread 0 run in `dispatch()` and `spin()` alone: asyncio's `loop.add_reader(node.fileno(), node.dispatch)` runs them in its loop.
    """

    def __init__(self, name: str, *, domain: Optional[str] = None, by_caller: bool = False) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None:
        """Waits for running callbacks, unless called in one. What they wait for themselves, of what was created of the node, is over: Closed, of `call()` Cancelled."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: Any) -> None: ...
    def fileno(self) -> int:
        """Of a `by_caller` node: readable while `dispatch()` has something to do."""
    def dispatch(self) -> None:
        """Of a `by_caller` node: runs the callbacks that are due, and returns."""
    def spin(self) -> None:
        """Runs callbacks of `by_caller` nodes, and waits for others to run, until `stop()`, `close()`, or Ctrl-C, which is KeyboardInterrupt."""
    def stop(self) -> None:
        """Ends all `spin()` that run, or else the next one. May be called anywhere."""
    @overload
    def create_publisher(self, topic: str, type: Class[M], **options: Unpack[PublisherOptions]) -> Publisher[M]: ...
    @overload
    def create_publisher(self, topic: str, type: AnyType, **options: Unpack[PublisherOptions]) -> Publisher[Any]:
        """Waits until the manager has agreed. TypeMismatch where the topic carries another type."""
    @overload
    def subscribe(
        self, topic: str, type: Class[M], callback: Union[None, Callable[[M], object], Callable[[M, MessageInfo], object]] = None, **options: Unpack[SubscriberOptions]
    ) -> Subscriber[M]: ...
    @overload
    def subscribe(self, topic: str, type: Optional[AnyType] = None, callback: Optional[Callable[..., object]] = None, **options: Unpack[SubscriberOptions]) -> Subscriber[Any]:
        """Without a type, takes that of the topic, and waits for one to be there at most `timeout`; then Timeout. `timeout` is also how long iterating waits for each message.
        In a coroutine that would hold the loop up: `await asyncio.to_thread(node.subscribe, topic)`, or give the type.

        `callback(message)` or `callback(message, info)`, by the number of its parameters.
        """
    @overload
    def create_client(self, service: str, request: Class[M], response: Class[A], **options: Unpack[ClientOptions]) -> Client[M, A]: ...
    @overload
    def create_client(self, service: str, request: Class[Service[M, A]], **options: Unpack[ClientOptions]) -> Client[M, A]: ...
    @overload
    def create_client(self, service: str, request: Optional[AnyType] = None, response: Optional[AnyType] = None, **options: Unpack[ClientOptions]) -> Client[Any, Any]:
        """A client of a service. A class of sinew.msgs that is a service, or its name, as "std_srvs/srv/Trigger", stands for both types. Without types, takes those of the service, and waits for it at most `timeout`."""
    @overload
    def provide(
        self, service: str, request: Class[M], response: Class[A], handler: Callable[[M], Union[A, Mapping[str, Any], Draft]], **options: Unpack[ProviderOptions]
    ) -> Provider[M, A]: ...
    @overload
    def provide(self, service: str, request: Class[Service[M, A]], handler: Callable[[M], Union[A, Mapping[str, Any], Draft]], **options: Unpack[ProviderOptions]) -> Provider[M, A]: ...
    @overload
    def provide(self, service: str, request: str, handler: Callable[[Any], Any], **options: Unpack[ProviderOptions]) -> Provider[Any, Any]: ...
    @overload
    def provide(self, service: str, request: AnyType, response: AnyType, handler: Callable[[Any], Any], **options: Unpack[ProviderOptions]) -> Provider[Any, Any]:
        """`handler(request)` returns the response; what it raises is what the client is told. None is a response only where that has no fields. `deferred`: `handler(call)` gets a Call, which it answers now or later, on any thread.

        A class of sinew.msgs that is a service, or its name, as "std_srvs/srv/Trigger", stands for both types: `provide("stop", Trigger, handler)`.
        """
    def create_timer(self, period: float, callback: Callable[[], object], *, execution_thread: int = 0) -> Timer:
        """Calls `callback()` every `period` seconds, first a period from now. One that was late does not make the next one late."""
    def domain(self) -> DomainUpdate:
        """What there is now."""
    def watch(self, callback: Callable[[DomainUpdate], object], *, execution_thread: int = 0) -> Watch:
        """Is told what there is, and then what changes."""
    def counters(self) -> Counters:
        """What all publishers and subscribers of the domain count."""
    def disconnect(self, name: str) -> None:
        """Ends the connection of the node of this name with the manager, as if that had died; as sinew_node_disconnect."""

class Publisher(Generic[M]):
    """Ends when it is closed, or nothing refers to it any more."""

    @property
    def topic(self) -> str: ...
    @property
    def type(self) -> Type: ...
    @property
    def closed(self) -> bool: ...
    def publish(self, message: Union[M, Message, Draft, Mapping[str, Any]]) -> None:
        """Publishes a message, or anything that can be one. EncodeError says which field does not fit; NoMemory, WouldBlock, Closed as in sinew.h.

        As a structure: a Message (as it is when it is of that type), a Draft, a mapping, a row of a structured array, or any object that has the fields as attributes: of dataclasses and others. Missing fields are
        defaults: 0, "", empty, None, the first alternative. Keys of a mapping that are no fields are an EncodeError, and so is an object whose class is declared as another message, or that has none of the fields.
        As a vector or array of numbers: an ndarray or other buffer of that type (one copy, into shared memory), an ndarray whose values fit, any iterable of numbers. More dimensions than the type has, or a single one, are
        taken one after the other; as many as it has are to have its lengths.
        As a vector of structures: a structured array, or an iterable of structures. As a map: a mapping, or an iterable of entries.
        """
    def loan(self, **arrays: Union[int, Tuple[int, ...]]) -> Loan:
        """A message whose named vectors, of this many elements or this shape, are in shared memory from the start: `with pub.loan(data=(1080, 1920, 3)) as m: m.data[...] = frame`. They are writable arrays, not initialised;
        of numbers, or of structures whose leaves are numbers. What is set in place of one (`m.data = frame`) is copied into it, as NumPy does, and EncodeError where it does not fit, as in publishing."""
    def assert_liveliness(self) -> None:
        """A sign of life, where the QoS says `manual_by_topic`."""
    def statistics(self) -> Mapping[str, int]:
        """Counts since it was created, by their names; as in sinew.h."""
    def close(self) -> None:
        """What was published stays readable for those who are connected."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: Any) -> None: ...

class Loan:
    """`with` gives a Draft, and publishes it at the end of the block, unless that raises. What is done with the draft then raises RuntimeError; arrays of it that are still there have become read-only, and stay as they are, also when publisher and node are closed. (Views that were
    made of them earlier, by slicing, stay writable, which NumPy cannot change: what is written to them then is seen by whoever has the message.) While one is there, its loan's memory is not used for other messages, and counts as the
    publisher's: after `image = m.data` in a loop there are two of them."""

    def __enter__(self) -> Draft: ...
    def __exit__(self, *_: Any) -> None: ...

class Subscriber(Generic[M]):
    """Ends when it is closed, or nothing refers to it any more. Iterating gives `(message, info)`, raises Timeout when none comes within the `timeout` it was created with, and ends when it, or its node, is closed."""

    @property
    def topic(self) -> str: ...
    @property
    def timeout(self) -> Optional[float]: ...
    @property
    def type(self) -> Type: ...
    @property
    def closed(self) -> bool: ...
    def take(self, timeout: Optional[float] = None) -> Tuple[M, MessageInfo]:
        """The next message, oldest first. Timeout when none comes in time, Closed when none can come any more, as in a forked child."""
    def __iter__(self) -> Iterator[Tuple[M, MessageInfo]]: ...
    def __aiter__(self) -> AsyncIterator[Tuple[M, MessageInfo]]:
        """The same in asyncio."""
    def __next__(self) -> Tuple[M, MessageInfo]: ...
    def statistics(self) -> Mapping[str, int]:
        """Counts since it was created, by their names; as in sinew.h."""
    def close(self) -> None:
        """Waits for its running callback, unless called in it. Messages stay valid."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: Any) -> None: ...

class Client(Generic[M, A]):
    """Calls a service. It need not have a provider: calls wait for one. Ends when it is closed, or nothing refers to it any more, nor waits for an answer."""

    @property
    def service(self) -> str: ...
    @property
    def request(self) -> Type: ...
    @property
    def response(self) -> Type: ...
    @property
    def closed(self) -> bool: ...
    def call(self, request: Union[None, M, Message, Draft, Mapping[str, Any]] = None, timeout: Optional[float] = None) -> A:
        """Waits for the response: Timeout, CallFailed, Cancelled, Lost, NoMemory, Closed. The default request is one of defaults. Not in a callback of a call of the same client, where it raises RuntimeError, nor on the execution thread that is to answer, that of a provider of the same node: there it waits for itself. Use call_async(), or another `execution_thread`."""
    def call_async(self, request: Union[None, M, Message, Draft, Mapping[str, Any]] = None, timeout: Optional[float] = None) -> Answer[A]:
        """The same without waiting; the request is copied. Cancelling the future cancels the call, and so does cancelling who awaits it; its callbacks run on a thread of the client's own."""
    def statistics(self) -> Mapping[str, int]:
        """Counts since it was created, by their names; as in sinew.h."""
    def close(self) -> None:
        """Calls that wait end with Cancelled."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: Any) -> None: ...

class Answer(Future[A]):
    """What call_async() gives: a concurrent.futures.Future that can be awaited, too."""

    def __await__(self) -> Generator[Any, None, A]: ...

class Provider(Generic[M, A]):
    """Answers the requests of a service, until it is closed. Its node keeps it. Requests are copies, in memory of this process; they may be kept."""

    @property
    def service(self) -> str: ...
    @property
    def request(self) -> Type: ...
    @property
    def response(self) -> Type: ...
    @property
    def closed(self) -> bool: ...
    def statistics(self) -> Mapping[str, int]:
        """Counts since it was created, by their names; as in sinew.h."""
    def close(self) -> None:
        """Waits for its running handler, unless called in it."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: Any) -> None: ...

class Call:
    """A request to a deferred provider. When it goes unanswered, the client is told that there is no answer."""

    @property
    def request(self) -> Message: ...
    @property
    def info(self) -> MessageInfo: ...
    @property
    def cancelled(self) -> bool:
        """Nobody waits for the response any more."""
    def answer(self, response: Any) -> None:
        """Ends the call. When the response does not fit its type, the call goes on: EncodeError."""
    def fail(self, text: str) -> None:
        """Ends the call: the client gets CallFailed with this text."""

class Timer:
    """Calls back again and again, until it is closed. Its node keeps it."""

    @property
    def closed(self) -> bool: ...
    def cancel(self) -> None:
        """No call until `reset()`."""
    def reset(self) -> None:
        """The next call is a whole period from now."""
    @property
    def missed(self) -> int:
        """Periods without a call."""
    def close(self) -> None:
        """Waits for its running callback, unless called in it."""

# --- what there is in a domain --------------------------------------------------------------------------------------------------------

class DomainNode:
    """Named tuple; as sinew_domain_node, and so are the others."""

    id: int
    name: str
    container: str
    pid: int
    uid: int
    gid: int

class DomainTopic:
    id: int
    name: str
    type: str
    signature: str
    hash: bytes

class DomainEndpoint:
    id: int
    node: int
    topic: int
    memory: int
    deadline_ns: int
    lifespan_ns: int
    lease_ns: int
    depth: int
    publishes: bool
    ghost: Optional[str]
    reliable: bool
    transient_local: bool
    manual_by_topic: bool

class DomainPair:
    publisher: int
    subscriber: int
    why: str
    delivery: str
    connected: bool

class DomainUpdate:
    anew: bool
    complete: bool
    nodes: AnySequence[DomainNode]
    topics: AnySequence[DomainTopic]
    endpoints: AnySequence[DomainEndpoint]
    pairs: AnySequence[DomainPair]
    gone: AnySequence[int]
    lost: AnySequence[int]

class Watch:
    """Tells what changes in the domain, until it is closed. Its node keeps it."""

    def close(self) -> None:
        """Waits for its running callback, unless called in it."""

class Counters:
    """What is counted in a domain (sinew_domain_counters)."""

    def read(self) -> Tuple[AnySequence[Mapping[str, Any]], AnySequence[Mapping[str, Any]]]:
        """Counts of publishers and of pairs, as sinew_publisher_counts and sinew_pair_counts."""
    def close(self) -> None:
        """They are not to be read any more."""

def _describe(method: Any, text: str) -> None:
    """Sets what help() says of a method that is Python's own."""
