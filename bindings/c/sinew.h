/* sinew in C: what every other language stands on.
 *
 * A node publishes and receives messages as CDR streams (spec/cdr.md) of types of which it gives the signature (spec/types.md). Streams lie in shared memory: what is received is read where its publisher wrote it, and
 * what is loaned is written where subscribers will read it. Programs in C++ have objects instead: <sinew/sinew.hpp>.
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
 * - Functions that can fail return a sinew_status. Where it is not SINEW_OK, what they were to give is not touched, and sinew_last_error() says why. No function throws, ends the process or prints.
 * - Texts are UTF-8 with a NUL behind. Those that are given are copied. Those that are returned live as long as what they were asked of.
 * - Structures of options begin with `struct_size`, the size of the structure as the caller knows it; all else may be 0, which means the default. So a program goes on when a later version has more options.
 *   NULL in place of one means defaults only. Other structures do not change within a version of this interface.
 * - Callbacks run on an execution thread of the node, one at a time, unless sinew_node_options says otherwise. They must not throw, nor longjmp. `context` is given back to them as it is. `release(context)`, if not NULL, is called
 *   once, on any thread, when no callback is running nor will run: by `destroy`, or a little later; where creation fails, before that returns. Of options that are refused for their struct_size, or for an option that
 *   this library does not know, nothing is used: it is not called then.
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
  SINEW_NOTHING = 14          /* No message came in time. */
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
/* Waits for running callbacks, unless called in one. What was created of the node stays to be destroyed, and does nothing any more. Frames stay valid. NULL is allowed. */
SINEW_EXPORT void sinew_node_destroy(sinew_node* node);
/* Its name in the domain. */
SINEW_EXPORT const char* sinew_node_name(const sinew_node* node);

/* For by_caller; else SINEW_INVALID_ARGUMENT. One dispatch() or spin() at a time, others wait for it.
 * fd: readable while dispatch() has something to do, for poll(), epoll and the loops on top of them. Not to be read, nor used when the node is gone.
 * dispatch: runs the callbacks that are due, of each subscriber a few at most, and returns without waiting.
 * spin: runs callbacks until sinew_node_stop() is called, which may be called anywhere, also in a signal handler. */
SINEW_EXPORT sinew_status sinew_node_fd(sinew_node* node, int* fd);
SINEW_EXPORT sinew_status sinew_node_dispatch(sinew_node* node);
SINEW_EXPORT sinew_status sinew_node_spin(sinew_node* node);
SINEW_EXPORT void sinew_node_stop(sinew_node* node);

/* --- quality of service ----------------------------------------------------------------------------------------------------------- */

/* What a publisher offers, or a subscriber asks for; as sinew::Qos. Two that do not fit are not connected: sinew_event tells. */
typedef struct sinew_qos {
  uint32_t struct_size;
  uint32_t depth;       /* 1 to 512: keep so many of the newest messages of each publisher. 0: 8 */
  bool keep_all;        /* lose nothing, in place of `depth` */
  bool reliable;        /* with keep_all on both sides a publisher waits for a subscriber that is a whole ring behind */
  bool transient_local; /* keep the newest for those who come late, or ask for what was kept */
  bool manual_by_topic; /* a publisher shows that it is alive by publishing or sinew_publisher_assert_liveliness(); else its process does */
  int64_t deadline_ns;  /* between two messages at most; 0: none */
  int64_t lifespan_ns;  /* messages that are older are not delivered; 0: all are */
  int64_t lease_ns;     /* a sign of life at least so often; 0: none */
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
  SINEW_DELIVERY_COPY = 3,    /* copied into this process */
  SINEW_DELIVERY_NETWORK = 4  /* from another machine */
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

/* At least one. An array or string of 4096 bytes or more that lies in the publisher's memory as in the stream is an extent as a whole. The first extent begins with the encapsulation, 4 bytes; the body behind it is aligned to 16. */
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

typedef struct sinew_publisher_options {
  uint32_t struct_size;
  uint32_t execution_thread; /* of on_event: 0 to 1022 */
  uint64_t memory_budget;    /* bytes of shared memory at most; 0: 1 GiB */
  uint64_t prefault;         /* bytes of it to have from the start; SINEW_EXHAUSTED where they cannot be had */
  int64_t max_blocking_ns;   /* how long publishing may wait; 0: 100 ms; less: not at all; INT64_MAX: for ever */
  uint32_t when_full;
  uint32_t withdraw_at_most; /* 0: 3 */
  bool lock_memory;          /* never swapped (mlock) */
  bool ghost;                /* only there as long as others are: for tools and gateways. On a topic that is not there: SINEW_UNAVAILABLE */
  uint32_t events;           /* of which kinds on_event is told, SINEW_EVENT_... added up; others cost nothing */
  sinew_event_callback on_event;
  void* context;
  void (*release)(void* context);
} sinew_publisher_options;

/* Publishes on `topic`. `signature` describes the type: "robot/Image{width:uint32;data:uint8[];}". Blocks until the manager has agreed. SINEW_TYPE_MISMATCH where the topic carries another type. */
SINEW_EXPORT sinew_status sinew_publisher_create(sinew_node* node, const char* topic, const char* signature, const sinew_qos* qos,
                                                 const sinew_publisher_options* options, sinew_publisher** publisher);
/* What was published stays readable for those who hold it, and for those who were connected and have yet to take it. NULL is allowed. */
SINEW_EXPORT void sinew_publisher_destroy(sinew_publisher* publisher);

/* Publishes the stream that `count` extents are: one copy, into shared memory, whoever reads it. A stream begins with 00 01 00 00 where its numbers have the least significant byte first, or 00 00 00 00. What follows is not
 * looked at: who decodes a stream that is not of the type rejects it, and counts that. */
SINEW_EXPORT sinew_status sinew_publisher_publish(sinew_publisher* publisher, const sinew_extent* extents, size_t count);

/* Room for a stream of at most `capacity` bytes, where subscribers will read it; `data` is set to it. Its bytes are not initialised; those behind the fourth are aligned to 16. */
SINEW_EXPORT sinew_status sinew_publisher_loan(sinew_publisher* publisher, size_t capacity, sinew_loan** loan, uint8_t** data);
/* Publishes the first `used` bytes of a loan of this publisher, without a copy. The loan is gone, whatever comes of it. */
SINEW_EXPORT sinew_status sinew_publisher_publish_loan(sinew_publisher* publisher, sinew_loan* loan, size_t used);
/* Gives a loan back that is not published. It keeps the publisher until then. NULL is allowed. */
SINEW_EXPORT void sinew_loan_release(sinew_loan* loan);

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
  bool ghost;                    /* as sinew_publisher_options */
  sinew_frame_callback on_frame; /* NULL: messages wait for sinew_subscriber_take() */
  sinew_event_callback on_event;
  void* context;
  void (*release)(void* context);
} sinew_subscriber_options;

/* Subscribes to `topic`, as sinew_publisher_create(). */
SINEW_EXPORT sinew_status sinew_subscriber_create(sinew_node* node, const char* topic, const char* signature, const sinew_qos* qos,
                                                  const sinew_subscriber_options* options, sinew_subscriber** subscriber);
/* Waits for its running callback, unless called in it. Frames stay valid. NULL is allowed. */
SINEW_EXPORT void sinew_subscriber_destroy(sinew_subscriber* subscriber);
/* The next waiting message, oldest first of each publisher. Waits for one at most `timeout_ns`; 0: not at all; less: for ever. SINEW_NOTHING when none came, SINEW_CLOSED when the node was destroyed, SINEW_EXHAUSTED when there
 * is no memory for it: then it is lost. The frame is the caller's to release. For subscribers without on_frame. */
SINEW_EXPORT sinew_status sinew_subscriber_take(sinew_subscriber* subscriber, int64_t timeout_ns, sinew_frame** frame);

/* Counts since it was created; as sinew::SubscriberStatistics. */
typedef struct sinew_subscriber_statistics {
  uint64_t received, missed, withdrawn, skipped, expired, bytes_copied, over_quota, rejected, publishers, held, incompatible,
      deadlines_missed, publishers_alive, publishers_not_alive;
  bool detached;
} sinew_subscriber_statistics;
SINEW_EXPORT sinew_status sinew_subscriber_get_statistics(const sinew_subscriber* subscriber, sinew_subscriber_statistics* statistics);

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
  bool publishes, ghost, reliable, transient_local, manual_by_topic;
} sinew_domain_endpoint;

/* A publisher and a subscriber of one topic. It goes with either of them. */
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

/* What there is now. Blocks until the manager has told everything: under a millisecond, and some microseconds for each endpoint and pair. The caller's to release. */
SINEW_EXPORT sinew_status sinew_domain_get(sinew_node* node, sinew_domain_update** everything);
/* Of sinew_domain_get() only. NULL is allowed. */
SINEW_EXPORT void sinew_domain_release(sinew_domain_update* everything);

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

#ifdef __cplusplus
}
#endif

#endif
