/* sinew in C: what every other language stands on.
 *
 * A node publishes and receives messages, and calls and provides services, as CDR streams (spec/cdr.md) of types of which it gives the signature (spec/types.md). Streams lie in shared memory: what is received is read where its
 * publisher wrote it, and what is loaned is written where subscribers will read it. Programs in C++ have objects instead: <sinew/sinew.hpp>.
 * Long because: it is the whole interface and its manual, in one file that tools for other languages can be given.
 *
 *   sinew_node* node;
 *   if (sinew_node_create("viewer", NULL, &node) != SINEW_OK) fail(sinew_last_error());
 *   sinew_subscriber* images;
 *   sinew_subscriber_create(node, "camera/image", signature, NULL, NULL, &images);
 *   sinew_frame* frame;
 *   while (sinew_subscriber_take(images, -1, &frame) == SINEW_OK) {
 *     for (size_t i = 0; i < sinew_frame_extent_count(frame); ++i) use(sinew_frame_extent(frame, i));
 *     sinew_frame_release(frame);
 *   }
 *
 * Rules for all of it:
 * - Functions are thread-safe, unless they say otherwise. What one object's `destroy` or `release` gets must not be used again, nor be in use by another thread.
 * - Functions that can fail return a sinew_status. Where it is not SINEW_OK, what they were to give is not touched, and sinew_last_error() says why. No function throws, ends the process or prints, but that the library says warnings and errors on standard error, once for each cause (SINEW_LOG=off: none).
 * - Texts are UTF-8 with a NUL behind. Those that are given are copied. Those that are returned live as long as what they were asked of.
 * - Structures of options begin with `struct_size`, the size of the structure as the caller knows it; all else may be 0, which means the default. So a program goes on when a later version has more options.
 *   NULL in place of one means defaults only. Other structures do not change within a version of this interface.
 * - Callbacks run on an execution thread of the node, one at a time, unless sinew_node_options, or what takes them, says otherwise. They must not throw, nor longjmp. `context` is given back to them as it is.
 *   `release(context)`, if not NULL, is called once, on any thread, when no callback is running nor will run: by `destroy`, or a little later; where creation fails, before that returns. Of options that are refused for their
 *   struct_size, or for an option that this library does not know, nothing is used: it is not called then.
 * - A node does not survive fork(): in the child everything here does nothing, or fails.
 *
 * Times are nanoseconds: points in time of CLOCK_MONOTONIC, which all processes of a machine share.
 */
#ifndef SINEW_H
#define SINEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SINEW_EXPORT __attribute__((visibility("default")))
#else
#define SINEW_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A library with another major version, the upper 16 bits, is another interface. */
#define SINEW_ABI_VERSION 0x00010000u
/* That of the library. */
SINEW_EXPORT uint32_t sinew_abi_version(void);

/* --- what can go wrong ------------------------------------------------------------------------------------------------------------ */

typedef int32_t sinew_status;
enum {
  SINEW_OK = 0,
  /* What the caller can do about it: */
  SINEW_INVALID_ARGUMENT = 1, /* The call itself is wrong (a bad name, a bad option): fix the call. */
  SINEW_NAME_TAKEN = 2,       /* Another node of the domain has this name: choose another, or set SINEW_NODE. */
  SINEW_TYPE_MISMATCH = 3,    /* The topic carries another type: the text names the first field that differs. */
  SINEW_INCOMPATIBLE = 4,     /* The other side speaks another version of sinew. */
  SINEW_UNAVAILABLE = 5,  /* No manager could be reached or started, it does not answer, or the topic that a ghost is for is not there. */
  SINEW_DENIED = 6,       /* This user or group may not take part in this domain, or not in this topic: the text says which rule. */
  SINEW_EXHAUSTED = 7,    /* A limit or the machine's memory is used up: free something, or raise the limit. */
  SINEW_DISCONNECTED = 8, /* The node was destroyed, or there is no manager at the moment: the node seeks one, try again. */
  SINEW_SYSTEM = 9,       /* A system call failed; the text has errno. */
  /* Of publishing and taking, where they are expected: */
  SINEW_NO_MEMORY = 10,       /* The publisher's memory, or the machine's, is used up. Not published; counted. */
  SINEW_WOULD_BLOCK = 11,     /* A reliable keep-all subscriber did not catch up within max_blocking. Not published; counted. */
  SINEW_INVALID_MESSAGE = 12, /* What was given is no stream. Not published; counted. */
  SINEW_CLOSED = 13,          /* The node is destroyed, or the ghost's topic is gone. */
  SINEW_NOTHING = 14,         /* No message came in time. */
  /* Of calls, beside SINEW_NO_MEMORY, SINEW_INVALID_MESSAGE and SINEW_CLOSED: */
  SINEW_FAILED = 15,    /* The provider answered with an error: the text is what it said. */
  SINEW_TIMEOUT = 16,   /* No answer came in time. The provider sees the call as cancelled. */
  SINEW_CANCELLED = 17, /* By the caller, or the client was destroyed. */
  SINEW_LOST = 18       /* A provider that executes no request twice has gone, or a message was lost. The request was executed, or not. */
};

/* "type_mismatch"; "unknown" for a number that is none of these. */
SINEW_EXPORT const char* sinew_status_name(sinew_status status);
/* Why the last function that failed on this thread did, as a sentence for a person: what was asked, what is there, what to do. Until the next one fails. Empty before the first. */
SINEW_EXPORT const char* sinew_last_error(void);

/* --- nodes ------------------------------------------------------------------------------------------------------------------------ */

typedef struct sinew_node sinew_node;

typedef struct sinew_node_options {
  uint32_t struct_size;
  /* Callbacks of execution thread 0 run in sinew_node_dispatch() and sinew_node_spin() alone, on the caller's thread; sinew_node_fd() tells when there are some. Else threads of the library run them. */
  bool by_caller;
  /* The domain's name, or the path of its socket. NULL or "": $SINEW_DOMAIN, else "default". */
  const char* domain;
} sinew_node_options;

/* Joins the domain under `name`, or what SINEW_NODE says; starts its manager when none runs. Blocks until registered: about a millisecond, at most some seconds. */
SINEW_EXPORT sinew_status sinew_node_create(const char* name, const sinew_node_options* options, sinew_node** node);
/* Waits for running callbacks, unless called in one. What was created of the node stays to be destroyed, and does nothing any more, but that calls of its clients that wait end with SINEW_CLOSED, on a thread of the client, perhaps
 * after this has returned: sinew_client_destroy() waits for them. Frames stay valid. NULL is allowed. */
SINEW_EXPORT void sinew_node_destroy(sinew_node* node);
/* Its name in the domain. */
SINEW_EXPORT const char* sinew_node_name(const sinew_node* node);

/* For by_caller; else SINEW_INVALID_ARGUMENT. One fd(), dispatch() or spin() at a time: others wait for it, also for a spin() to end, so take the fd before that; in a callback of the node they are SINEW_INVALID_ARGUMENT.
 * fd: readable while dispatch() has something to do, for poll(), epoll and the loops on top of them. Not to be read, nor used when the node is gone.
 * dispatch: runs the callbacks that are due, of each subscriber a few at most, and returns without waiting for more.
 * spin: runs callbacks until sinew_node_stop() is called, which may be called anywhere, also in a signal handler: it ends the spin that runs, or else the next one; called twice, two of them. */
SINEW_EXPORT sinew_status sinew_node_fd(sinew_node* node, int* fd);
SINEW_EXPORT sinew_status sinew_node_dispatch(sinew_node* node);
SINEW_EXPORT sinew_status sinew_node_spin(sinew_node* node);
SINEW_EXPORT void sinew_node_stop(sinew_node* node);

/* --- quality of service ----------------------------------------------------------------------------------------------------------- */

/* What a publisher offers, or a subscriber asks for; as sinew::Qos. Two that do not fit are not connected: sinew_event tells. */
typedef struct sinew_qos {
  uint32_t struct_size;
  uint32_t depth; /* 1 to 512: keep so many of the newest messages of each publisher. 0: 8 */
  bool keep_all;  /* as many as a ring has (1024), in place of `depth`; a subscriber of another user 8 at most, of either */
  /* A reliable publisher, whatever it keeps, waits for a reliable subscriber that keeps all and is a whole ring behind, at most max_blocking_ns: then SINEW_WOULD_BLOCK. Not for one of another user. */
  bool reliable;
  bool transient_local; /* keep the newest for those who come late, or ask for what was kept */
  bool manual_by_topic; /* needs lease_ns; a publisher shows that it is alive by publishing or assert_liveliness(); else its process does */
  int64_t deadline_ns;  /* between two messages at most; 0: none */
  int64_t lifespan_ns;  /* of a publisher: messages that are older are not delivered; 0: all are; of a subscriber it means nothing */
  int64_t lease_ns;     /* a sign of life at least so often; 0: none, which manual_by_topic is refused with */
} sinew_qos;

/* --- events ----------------------------------------------------------------------------------------------------------------------- */

enum {
  SINEW_EVENT_MATCHED = 1,             /* Peers came or went. */
  SINEW_EVENT_INCOMPATIBLE_QOS = 2,    /* A peer was not connected. */
  SINEW_EVENT_DEADLINE_MISSED = 4,     /* Whole periods passed without a message. */
  SINEW_EVENT_LIVELINESS_LOST = 8,     /* Of a publisher: it showed no sign of life for a lease. */
  SINEW_EVENT_LIVELINESS_CHANGED = 16, /* Of a subscriber: of its publishers. */
  SINEW_EVENT_MESSAGE_LOST = 32,       /* Of a subscriber. */
  SINEW_EVENT_DETACHED = 64            /* It is a ghost, and its topic is gone. */
};

/* Something that happened beside messages. What happens until the callback runs is told by one call: totals are as things stand, changes are since the last call. Valid during the call. */
typedef struct sinew_event {
  uint32_t kind; /* one of the above */
  uint32_t reserved;
  /* matched: peers ever connected; incompatible: peers; deadline: periods; liveliness lost: how often; message lost: messages */
  uint64_t total_count;
  uint64_t total_count_change;
  uint64_t current_count; /* matched: peers now; liveliness changed: publishers that are alive */
  int64_t current_count_change;
  uint64_t not_alive_count; /* liveliness changed: publishers that are connected and silent */
  int64_t not_alive_count_change;
  uint64_t pushed_out; /* message lost, of total_count: by newer ones before they were taken */
  uint64_t withdrawn;  /*   by a publisher whose memory was full */
  uint64_t expired;    /*   older than their lifespan */
  const char* node;    /* incompatible, liveliness changed: the last peer's node; else "" */
  const char* text;    /* incompatible: which policies keep it apart, as a sentence; detached: the topic; else "" */
} sinew_event;

typedef void (*sinew_event_callback)(void* context, const sinew_event* event);

/* --- messages --------------------------------------------------------------------------------------------------------------------- */

/* A part of a stream. The parts in their order, joined, are the stream. */
typedef struct sinew_extent {
  const uint8_t* data;
  size_t size;
} sinew_extent;

/* How a message came. */
enum {
  SINEW_DELIVERY_POINTER = 0, /* within the process; between objects only */
  SINEW_DELIVERY_NATIVE = 1,  /* in place, as an object */
  SINEW_DELIVERY_VIEW = 2,    /* as a stream, big arrays in place */
  SINEW_DELIVERY_COPY = 3     /* copied into this process */
};

typedef struct sinew_message_info {
  const char* publisher;   /* the name of its node */
  uint64_t sequence;       /* the publisher's count, from 1 */
  int64_t source_time_ns;  /* just before subscribers could see it */
  int64_t receive_time_ns; /* just before the callback was called, or take() returned */
  uint64_t missed;         /* messages of this publisher that were lost to this subscriber since the one before */
  int32_t delivery;        /* SINEW_DELIVERY_VIEW or SINEW_DELIVERY_COPY */
  int32_t reserved;
} sinew_message_info;

/* A received message. It keeps the publisher's memory while it is there: of each publisher a subscriber holds at most 119 of them, and a quarter of its memory; what goes beyond is copied. Stays valid when subscriber,
 * node and publisher are gone, also by a crash. Its bytes do not change, unless the publisher's process runs wild: whoever decodes them reads each length once and bounds it by what is left. */
typedef struct sinew_frame sinew_frame;

/* At least one. An array or string of 4096 bytes or more that lies in the publisher's memory as in the stream is an extent as a whole. The first extent begins with the encapsulation, 4 bytes; the body behind it is aligned to 16
 * (of services: see there). */
SINEW_EXPORT size_t sinew_frame_extent_count(const sinew_frame* frame);
/* REQUIRES: index < count. */
SINEW_EXPORT sinew_extent sinew_frame_extent(const sinew_frame* frame, size_t index);
SINEW_EXPORT sinew_message_info sinew_frame_info(const sinew_frame* frame);
/* From any thread. NULL is allowed. */
SINEW_EXPORT void sinew_frame_release(sinew_frame* frame);

/* --- publishers ------------------------------------------------------------------------------------------------------------------- */

typedef struct sinew_publisher sinew_publisher;
typedef struct sinew_loan sinew_loan;

/* What makes room when the publisher's memory is full, after all that nobody wants any more. */
enum {
  SINEW_WHEN_FULL_WITHDRAW = 0,      /* the oldest messages that were not taken yet */
  SINEW_WHEN_FULL_WITHDRAW_SOME = 1, /* the same, but at most withdraw_at_most for one new message; then that is refused */
  SINEW_WHEN_FULL_REFUSE = 2,        /* nothing: the new message is refused */
  SINEW_WHEN_FULL_WAIT = 3           /* the new message waits, at most max_blocking_ns */
};

/* Whether a publisher, a subscriber, a client or a provider is only there as long as others are, as sinew::Ghost. On a topic that is not there a ghost is refused: SINEW_UNAVAILABLE. */
enum {
  SINEW_GHOST_NO = 0,      /* it is none */
  SINEW_GHOST_CARRIER = 1, /* of gateways and bridges: it meets no other carrier, so that what one has brought none takes out again */
  SINEW_GHOST_OBSERVER = 2 /* of tools */
};

typedef struct sinew_publisher_options {
  uint32_t struct_size;
  uint32_t execution_thread; /* of on_event: 0 to 1022 */
  uint64_t memory_budget;    /* bytes of shared memory at most, 64 KiB or more; 0: 1 GiB */
  uint64_t prefault;         /* bytes of it to have from the start; SINEW_EXHAUSTED where they cannot be had */
  int64_t max_blocking_ns;   /* how long publishing may wait; 0: 100 ms; less: not at all; INT64_MAX: for ever */
  uint32_t when_full;
  uint32_t withdraw_at_most; /* 0: 3 */
  bool lock_memory;          /* never swapped (mlock) */
  uint8_t ghost;             /* SINEW_GHOST_... */
  uint32_t events;           /* of which kinds on_event is told, SINEW_EVENT_... added up; others cost nothing */
  sinew_event_callback on_event;
  void* context;
  void (*release)(void* context);
} sinew_publisher_options;

/* Publishes on `topic`. `signature` describes the type: "robot/Image{width:uint32;data:uint8[];}". Blocks until the manager has agreed. SINEW_TYPE_MISMATCH where the topic carries another type. */
SINEW_EXPORT sinew_status sinew_publisher_create(sinew_node* node, const char* topic, const char* signature, const sinew_qos* qos,
                                                 const sinew_publisher_options* options, sinew_publisher** publisher);
/* What was published stays readable for those who hold it, and for those who were connected and have yet to take it. Waits for an on_event that runs, unless called in it. While there are loans of it the publisher stays
 * connected, and on_event may be called: free its context in release() alone. NULL is allowed. */
SINEW_EXPORT void sinew_publisher_destroy(sinew_publisher* publisher);

/* Publishes the stream that `count` extents are: one copy, into shared memory, whoever reads it. A stream begins with 00 01 00 00 where its numbers have the least significant byte first, or 00 00 00 00. What follows is not
 * looked at: a subscriber in C++ that it is no message for rejects it, and counts that; in C, Rust and Python it is received, and whoever decodes it sees. Waits as sinew_publisher_loan(), for another thread that publishes on it, and for a subscriber that keeps all (sinew_qos). */
SINEW_EXPORT sinew_status sinew_publisher_publish(sinew_publisher* publisher, const sinew_extent* extents, size_t count);

/* Room for a stream of at most `capacity` bytes, where subscribers will read it; `data` is set to it. Its bytes are not initialised; those behind the fourth are aligned to 16. May wait for memory, at most
 * max_blocking_ns: with SINEW_WHEN_FULL_WAIT until subscribers let go of some, else, for 0.1 s at most, until they have unmapped what was given back. */
SINEW_EXPORT sinew_status sinew_publisher_loan(sinew_publisher* publisher, size_t capacity, sinew_loan** loan, uint8_t** data);
/* Publishes the first `used` bytes of a loan of this publisher, without a copy. The loan is gone, whatever comes of it. */
SINEW_EXPORT sinew_status sinew_publisher_publish_loan(sinew_publisher* publisher, sinew_loan* loan, size_t used);
/* Publishes the stream that `count` extents are, one behind the other: those that lie in the loan, which is of this publisher, are not copied, wherever they are in it; the others are, into shared memory. So a big array can be written
 * before what stands in front of it is known. The first has 4 bytes at least; it is copied, too, unless its body is aligned as that of the loan. The loan is gone, whatever comes of it, but its bytes must not be written from now on. */
SINEW_EXPORT sinew_status sinew_publisher_publish_pieces(sinew_publisher* publisher, sinew_loan* loan, const sinew_extent* extents,
                                                         size_t count);
/* Gives a loan back that is not published. It keeps the publisher until then. NULL is allowed. */
SINEW_EXPORT void sinew_loan_release(sinew_loan* loan);

/* The bytes of a loan, for as long as somebody may look at them. */
typedef struct sinew_loan_memory sinew_loan_memory;
/* Keeps the bytes of a loan that is still there, where and as they are, whatever becomes of the loan: published, given back, or refused; of the publisher and the node, which may be destroyed; and of those who read the message, which
 * may die. For languages in which an object that refers to them, as an array of NumPy, may outlive the loan: without it they may be unmapped, or those of another message. They may be read until `memory` is released, and must not
 * be written from the end of the loan on. Until then they count as the publisher's memory (memory_budget), which nobody can withdraw. May be called more than once; each keeps them. SINEW_EXHAUSTED, and SINEW_CLOSED in a child of
 * fork(): nothing is kept, and the loan is as it was. Not while another thread publishes the loan, or gives it back. */
SINEW_EXPORT sinew_status sinew_loan_keep(const sinew_loan* loan, sinew_loan_memory** memory);
/* From any thread, also when publisher and node are gone. NULL is allowed. */
SINEW_EXPORT void sinew_loan_memory_release(sinew_loan_memory* memory);

/* For manual_by_topic. */
SINEW_EXPORT void sinew_publisher_assert_liveliness(sinew_publisher* publisher);

/* Counts since it was created; as sinew::PublisherStatistics. */
typedef struct sinew_publisher_statistics {
  uint64_t published, bytes, bytes_copied, bytes_exported, refused, withdrawn, subscribers, memory_mapped, memory_in_use, incompatible,
      deadlines_missed, liveliness_lost;
  bool detached;
} sinew_publisher_statistics;
SINEW_EXPORT sinew_status sinew_publisher_get_statistics(const sinew_publisher* publisher, sinew_publisher_statistics* statistics);

/* --- subscribers ------------------------------------------------------------------------------------------------------------------ */

typedef struct sinew_subscriber sinew_subscriber;
/* The frame is the callback's to release, at once or later. */
typedef void (*sinew_frame_callback)(void* context, sinew_frame* frame);

typedef struct sinew_subscriber_options {
  uint32_t struct_size;
  uint32_t execution_thread;     /* of on_frame and on_event: 0 to 1022 */
  uint32_t every;                /* every n-th message of each publisher; 0: all */
  uint32_t events;               /* of which kinds on_event is told */
  double max_rate;               /* messages a second of each publisher at most, on average; 0: all */
  uint8_t ghost;                 /* as sinew_publisher_options */
  sinew_frame_callback on_frame; /* NULL: messages wait for sinew_subscriber_take() */
  sinew_event_callback on_event;
  void* context;
  void (*release)(void* context);
} sinew_subscriber_options;

/* Subscribes to `topic`, as sinew_publisher_create(). A ghost may also subscribe to the topics of a service, "sum@request" and "sum@response", with the signatures that the domain's state tells: it is shown a copy of what is sent there,
 * by nodes of its user (spec/services.md). */
SINEW_EXPORT sinew_status sinew_subscriber_create(sinew_node* node, const char* topic, const char* signature, const sinew_qos* qos,
                                                  const sinew_subscriber_options* options, sinew_subscriber** subscriber);
/* Waits for its running callback, unless called in it. Frames stay valid. NULL is allowed. */
SINEW_EXPORT void sinew_subscriber_destroy(sinew_subscriber* subscriber);
/* The next waiting message, oldest first of each publisher. Waits for one at most `timeout_ns`; 0: not at all; less: for ever; and in any case for another thread that is in take() of this subscriber. SINEW_NOTHING when
 * none came, SINEW_CLOSED when the node was destroyed, in the child of a fork, or when a ghost's topic is gone, SINEW_EXHAUSTED when there is no memory for it: then it is lost. The frame is the caller's to release. For subscribers without on_frame. */
SINEW_EXPORT sinew_status sinew_subscriber_take(sinew_subscriber* subscriber, int64_t timeout_ns, sinew_frame** frame);
/* Takes nothing: waits, as long as that would, until sinew_subscriber_take() may have a message, which it has not where another thread was faster, or has to say that none comes any more. SINEW_NOTHING when it has waited in vain. */
SINEW_EXPORT sinew_status sinew_subscriber_wait(sinew_subscriber* subscriber, int64_t timeout_ns);

/* Counts since it was created; as sinew::SubscriberStatistics. */
typedef struct sinew_subscriber_statistics {
  uint64_t received, missed, withdrawn, skipped, expired, bytes_copied, over_quota, rejected, publishers, held, waiting, incompatible,
      deadlines_missed, publishers_alive, publishers_not_alive;
  bool detached;
} sinew_subscriber_statistics;
SINEW_EXPORT sinew_status sinew_subscriber_get_statistics(const sinew_subscriber* subscriber, sinew_subscriber_statistics* statistics);

/* --- services --------------------------------------------------------------------------------------------------------------------- */

/* Requests go from clients to providers, each to one of them, and each gets one response. Both are streams of types of their own, as messages are: extents that are given begin with the encapsulation, and are copied once, into
 * shared memory; the first extent of a frame is the encapsulation alone, and the body, aligned to 8, begins with the second. What else services send (spec/services.md) is not seen here. A stream that is not of the type, by its
 * lengths, is refused where it is given, and rejected and counted where it comes in; whoever decodes one checks it nevertheless, as any frame. */

typedef struct sinew_client sinew_client;

typedef struct sinew_client_options {
  uint32_t struct_size;
  uint8_t ghost;          /* as sinew_publisher_options */
  uint64_t memory_budget; /* bytes of shared memory for requests on their way at most; 0: 1 GiB */
} sinew_client_options;

/* A client of `service`, as sinew_publisher_create(). It need not have a provider: calls wait for one. */
SINEW_EXPORT sinew_status sinew_client_create(sinew_node* node, const char* service, const char* request_signature,
                                              const char* response_signature, const sinew_client_options* options, sinew_client** client);
/* Calls that wait end with SINEW_CANCELLED: their callbacks run before this returns, here or on the client's thread. Unless called in one, it waits for the one that is running. NULL is allowed. */
SINEW_EXPORT void sinew_client_destroy(sinew_client* client);

/* Calls the service and waits for the response, at most `timeout_ns`; less than 0: for ever. SINEW_OK: the frame is the caller's to release. Else the status says how the call has ended. Not within a callback of the same
 * client, nor on the execution thread that is to answer. */
SINEW_EXPORT sinew_status sinew_client_call(sinew_client* client, const sinew_extent* extents, size_t count, int64_t timeout_ns,
                                            sinew_frame** response);

/* How a call has ended. SINEW_OK: the response is the callback's to release, at once or later. Else that is NULL, and `error` says why, during the callback. */
typedef void (*sinew_response_callback)(void* context, sinew_status status, sinew_frame* response, const char* error);
/* The same without waiting. `call`, if not NULL, is set to its number, for sinew_client_cancel(). SINEW_OK: `on_response` is called once, on a thread of the client's own, one at a time, perhaps before this returns. It may call, and
 * destroy the client. The bytes of the extents must stay as they are until then. Else there is no call, and no callback. */
SINEW_EXPORT sinew_status sinew_client_call_async(sinew_client* client, const sinew_extent* extents, size_t count, int64_t timeout_ns,
                                                  sinew_response_callback on_response, void* context, uint64_t* call);
/* The call ends with SINEW_CANCELLED, unless it has ended, and its provider sees it as cancelled. */
SINEW_EXPORT void sinew_client_cancel(sinew_client* client, uint64_t call);

/* Counts since it was created; as sinew::ServiceClientStatistics. */
typedef struct sinew_client_statistics {
  uint64_t calls, answered, failed, resent, strays, rejected, pending, bytes_copied, providers;
  bool detached;
} sinew_client_statistics;
SINEW_EXPORT sinew_status sinew_client_get_statistics(const sinew_client* client, sinew_client_statistics* statistics);

typedef struct sinew_provider sinew_provider;
/* A request that is to be answered, by one of the three functions below that end it, on any thread, in the callback or later. A client has at most 256 of them with a provider, one of another user 8. */
typedef struct sinew_call sinew_call;
typedef void (*sinew_request_callback)(void* context, sinew_call* call);

typedef struct sinew_provider_options {
  uint32_t struct_size;
  uint32_t execution_thread; /* of on_request: 0 to 1022 */
  uint64_t memory_budget;    /* bytes of shared memory for responses at most, until clients let go of them; 0: 1 GiB */
  bool at_most_once;         /* calls that it has taken, and not answered when it goes away, end with SINEW_LOST; else others answer them */
  uint8_t ghost;             /* as sinew_publisher_options */
  sinew_request_callback on_request; /* for each request, also for those that are cancelled while they are executed */
  void* context;
  void (*release)(void* context);
} sinew_provider_options;

/* Provides `service`, as sinew_publisher_create(), from now on: `on_request` may be called before this returns. */
SINEW_EXPORT sinew_status sinew_provider_create(sinew_node* node, const char* service, const char* request_signature,
                                                const char* response_signature, const sinew_provider_options* options,
                                                sinew_provider** provider);
/* Waits for its running callback, unless called in it. Of requests that were not answered becomes what at_most_once says; they stay to be ended. NULL is allowed. */
SINEW_EXPORT void sinew_provider_destroy(sinew_provider* provider);

/* The request, and the name of the client's node in its info. Lives as long as the call; not to be released. */
SINEW_EXPORT const sinew_frame* sinew_call_request(const sinew_call* call);
/* Nobody waits for the response any more: the call was cancelled, has taken too long, or the client has gone. It is to be ended nevertheless. */
SINEW_EXPORT bool sinew_call_is_cancelled(const sinew_call* call);
/* Each ends the call, whatever comes of it; the client is told in any case, if it is there.
 * answer: sends the response. SINEW_INVALID_MESSAGE: it is no stream of the type; SINEW_NO_MEMORY: for the response; SINEW_WOULD_BLOCK: the client does not take what it is sent; SINEW_CLOSED: it has gone, or the provider was
 * destroyed.
 * fail: the call ends with SINEW_FAILED and the text, of which 64 KiB are sent.
 * release: as fail, and the text says that there is no answer. NULL is allowed. */
SINEW_EXPORT sinew_status sinew_call_answer(sinew_call* call, const sinew_extent* extents, size_t count);
SINEW_EXPORT sinew_status sinew_call_fail(sinew_call* call, const char* text);
SINEW_EXPORT void sinew_call_release(sinew_call* call);

/* Counts since it was created; as sinew::ServiceProviderStatistics. */
typedef struct sinew_provider_statistics {
  uint64_t answered, threw, cancelled, undelivered, excess, rejected, running, bytes_copied, clients;
  bool detached;
} sinew_provider_statistics;
SINEW_EXPORT sinew_status sinew_provider_get_statistics(const sinew_provider* provider, sinew_provider_statistics* statistics);

/* --- timers ----------------------------------------------------------------------------------------------------------------------- */

typedef struct sinew_timer sinew_timer;
typedef struct sinew_timer_options {
  uint32_t struct_size;
  uint32_t execution_thread; /* of on_time: 0 to 1022 */
  void (*on_time)(void* context);
  void* context;
  void (*release)(void* context);
} sinew_timer_options;
/* Calls on_time every `period_ns`, at least 1, first a period from now. Times are kept: a callback that was late does not make the next one late, and whole periods for which there was no time are left out. */
SINEW_EXPORT sinew_status sinew_timer_create(sinew_node* node, int64_t period_ns, const sinew_timer_options* options, sinew_timer** timer);
/* Waits for a running callback, unless called in it. NULL is allowed. */
SINEW_EXPORT void sinew_timer_destroy(sinew_timer* timer);
/* cancel: no callback until reset; one that is running goes on.
 * reset: the next one comes a whole period from now. */
SINEW_EXPORT void sinew_timer_cancel(sinew_timer* timer);
SINEW_EXPORT void sinew_timer_reset(sinew_timer* timer);
/* Periods without a callback. */
SINEW_EXPORT uint64_t sinew_timer_missed(const sinew_timer* timer);

/* --- what there is in a domain ---------------------------------------------------------------------------------------------------- */

/* Nodes, topics and endpoints have ids, unique among all three, and never used again while the manager lives. */
typedef struct sinew_domain_node {
  uint64_t id;
  const char* name;
  const char* container; /* the container's name, or the first digits of its id; "": none, or unknown */
  int64_t pid;           /* as the manager sees it; 0: in a container that it cannot see into */
  uint32_t uid, gid;
} sinew_domain_node;

typedef struct sinew_domain_topic {
  uint64_t id;
  const char* name;      /* those of the service "sum" are "sum@request" and "sum@response" */
  const char* type;      /* "robot/Image" */
  const char* signature; /* "robot/Image{width:uint32;...}": what sinew_subscriber_create() wants */
  uint8_t hash[16];
} sinew_domain_topic;

/* A publisher or a subscriber. */
typedef struct sinew_domain_endpoint {
  uint64_t id;
  uint64_t node, topic;                       /* ids; topic 0: it is a ghost whose topic is gone */
  uint64_t memory;                            /* of a publisher: bytes of shared memory that it has mapped */
  int64_t deadline_ns, lifespan_ns, lease_ns; /* 0: none */
  uint32_t depth;                             /* 0: keep all */
  bool publishes;
  uint8_t ghost; /* SINEW_GHOST_... */
  bool reliable, transient_local, manual_by_topic;
} sinew_domain_endpoint;

/* A publisher and a subscriber of one topic. It goes with either of them, or when either is on no topic any more. */
typedef struct sinew_domain_pair {
  uint64_t publisher, subscriber; /* ids of endpoints */
  const char* why;                /* why not by SINEW_DELIVERY_NATIVE or POINTER, or not connected, as a sentence */
  int32_t delivery;               /* how messages come, when connected */
  bool connected;
} sinew_domain_pair;

/* What has come or changed, as it is now, and what is gone; or, of sinew_domain_get(), everything. */
typedef struct sinew_domain_update sinew_domain_update;
/* Forget what updates before have told: this begins from nothing, as the first one does. */
SINEW_EXPORT bool sinew_domain_update_is_anew(const sinew_domain_update* update);
/* With this, everything has been told. There may be some updates before the first that is complete. */
SINEW_EXPORT bool sinew_domain_update_is_complete(const sinew_domain_update* update);
/* REQUIRES: index < count, of each. What refers to an id comes after it: nodes, topics, endpoints, pairs. */
SINEW_EXPORT size_t sinew_domain_update_node_count(const sinew_domain_update* update);
SINEW_EXPORT sinew_domain_node sinew_domain_update_node(const sinew_domain_update* update, size_t index);
SINEW_EXPORT size_t sinew_domain_update_topic_count(const sinew_domain_update* update);
SINEW_EXPORT sinew_domain_topic sinew_domain_update_topic(const sinew_domain_update* update, size_t index);
SINEW_EXPORT size_t sinew_domain_update_endpoint_count(const sinew_domain_update* update);
SINEW_EXPORT sinew_domain_endpoint sinew_domain_update_endpoint(const sinew_domain_update* update, size_t index);
SINEW_EXPORT size_t sinew_domain_update_pair_count(const sinew_domain_update* update);
SINEW_EXPORT sinew_domain_pair sinew_domain_update_pair(const sinew_domain_update* update, size_t index);
/* Ids of nodes, topics and endpoints that are gone; of some nothing may have been told. */
SINEW_EXPORT size_t sinew_domain_update_gone_count(const sinew_domain_update* update);
SINEW_EXPORT uint64_t sinew_domain_update_gone(const sinew_domain_update* update, size_t index);
/* Of those, the ids of nodes that did not leave: they have died, or lost their manager and come again. */
SINEW_EXPORT size_t sinew_domain_update_lost_count(const sinew_domain_update* update);
SINEW_EXPORT uint64_t sinew_domain_update_lost(const sinew_domain_update* update, size_t index);

/* What there is now. Blocks until the manager has told everything: under a millisecond, and some microseconds for each endpoint and pair. The caller's to release. */
SINEW_EXPORT sinew_status sinew_domain_get(sinew_node* node, sinew_domain_update** everything);
/* Of sinew_domain_get() only. NULL is allowed. */
SINEW_EXPORT void sinew_domain_release(sinew_domain_update* everything);

/* Ends the connection of the node of this name with the manager, as if that had died: it registers again, and all its pairs are introduced anew, while those that are connected go on. For nodes that others see wrongly, and for tests. Of
 * the caller's own user, unless that is the manager's, or root: else SINEW_DENIED. SINEW_INVALID_ARGUMENT where there is no such node. Does not wait for what comes of it: the domain's state tells. */
SINEW_EXPORT sinew_status sinew_node_disconnect(sinew_node* node, const char* name);

typedef struct sinew_domain_watch sinew_domain_watch;
typedef struct sinew_domain_watch_options {
  uint32_t struct_size;
  uint32_t execution_thread;
  void (*on_update)(void* context, const sinew_domain_update* update); /* valid during the call */
  void* context;
  void (*release)(void* context);
} sinew_domain_watch_options;
/* Is told what there is, and then of every change, as long as it is there. Changes that follow each other quickly are told together. A node may have 16. */
SINEW_EXPORT sinew_status sinew_domain_watch_create(sinew_node* node, const sinew_domain_watch_options* options,
                                                    sinew_domain_watch** watch);
/* Waits for a running callback, unless called in it. NULL is allowed. */
SINEW_EXPORT void sinew_domain_watch_destroy(sinew_domain_watch* watch);

/* --- what is counted in a domain --------------------------------------------------------------------------------------------------- */

/* Of a publisher, since it was created. */
typedef struct sinew_publisher_counts {
  uint64_t publisher; /* id of the endpoint */
  /* Stays when its node registers anew, as after the end of the manager, whereas the id is another one then, and its old one may be somebody else's: by this, what was counted at another moment is found. */
  uint64_t identity;
  uint64_t messages, bytes;
  uint64_t bytes_copied;   /* while publishing */
  uint64_t bytes_exported; /* for readers of other users */
  uint64_t refused;        /* messages that were not published */
  uint64_t withdrawn;      /* messages taken back for want of memory before all had taken them */
  int64_t newest_ns;       /* when the newest was published; 0: none was */
} sinew_publisher_counts;

/* What a subscriber has counted of one publisher, since they were connected. */
typedef struct sinew_pair_counts {
  uint64_t publisher, subscriber; /* ids of endpoints */
  /* As `identity` of sinew_publisher_counts. A pair that is connected anew has the same ones, and counts from 0; while messages of the connection before are held, that one is told of as well. */
  uint64_t publisher_identity, subscriber_identity;
  uint64_t messages;         /* received */
  uint64_t missed;           /* lost: pushed out by newer ones, or withdrawn */
  uint64_t withdrawn;        /* of those, by a publisher whose memory was full */
  uint64_t expired;          /* older than their lifespan */
  uint64_t skipped;          /* not wanted: every n-th, or a rate */
  uint64_t over_quota;       /* copied since the subscriber holds too much */
  uint64_t bytes_copied;     /* by the subscriber, while receiving */
  uint64_t held;             /* messages whose memory the subscriber keeps from being used again, now */
  uint64_t latency_total_ns; /* of all in `latency` */
  /* How many messages took so long from being published to being received. Of those that are published within a millisecond of each other one counts. Bucket 2n is [512 * 2^n ns, 768 * 2^n ns), bucket 2n + 1 from there to
   * 1024 * 2^n ns; the first also has what took less, the last what took longer. Numbers begin again from 0 after 2^32 - 1. */
  uint32_t latency[48];
} sinew_pair_counts;

/* Maps the memory in which the nodes of a domain count, read-only, and follows them as they come and go: who is looked at does nothing for it, and runs as fast as before. */
typedef struct sinew_domain_counters sinew_domain_counters;
/* Blocks until the manager has told everything, as sinew_domain_get(). */
SINEW_EXPORT sinew_status sinew_domain_counters_create(sinew_node* node, sinew_domain_counters** counters);
/* NULL is allowed. */
SINEW_EXPORT void sinew_domain_counters_destroy(sinew_domain_counters* counters);

/* The counts of one moment, in the order of the ids of publishers, then of subscribers. */
typedef struct sinew_domain_counts sinew_domain_counts;
/* Makes no system call; under a microsecond for each publisher and pair. Goes on while there is no manager. The caller's to release. */
SINEW_EXPORT sinew_status sinew_domain_counters_read(const sinew_domain_counters* counters, sinew_domain_counts** counts);
/* REQUIRES: index < count, of each. */
SINEW_EXPORT size_t sinew_domain_counts_publisher_count(const sinew_domain_counts* counts);
SINEW_EXPORT sinew_publisher_counts sinew_domain_counts_publisher(const sinew_domain_counts* counts, size_t index);
SINEW_EXPORT size_t sinew_domain_counts_pair_count(const sinew_domain_counts* counts);
SINEW_EXPORT sinew_pair_counts sinew_domain_counts_pair(const sinew_domain_counts* counts, size_t index);
/* NULL is allowed. */
SINEW_EXPORT void sinew_domain_counts_release(sinew_domain_counts* counts);

#ifdef __cplusplus
}
#endif

#endif
