/* What `sinew bridge ros2` needs of an implementation of DDS: topics of which only the bytes are known.
 *
 * A back end is a shared library with one function, sinew_dds_back_end(), which gives all others. It is loaded by the bridge's own process, so that nothing else of sinew is linked
 * with an implementation of DDS. All functions may be called from any thread, but not from within a callback, unless that is said. Texts are UTF-8 and end with a zero.
 *
 * A message is what DDS calls a serialized payload: 4 bytes of encapsulation, and CDR. */
#ifndef SINEW_RAW_DDS_H
#define SINEW_RAW_DDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header. A bridge takes only a back end that has the same. */
#define SINEW_DDS_VERSION 3

typedef struct sinew_dds_participant sinew_dds_participant;
typedef struct sinew_dds_writer sinew_dds_writer;
typedef struct sinew_dds_reader sinew_dds_reader;

/* Who somebody is in DDS: 12 bytes of its participant, and 4 of its own. */
typedef struct sinew_dds_guid {
  uint8_t bytes[16];
} sinew_dds_guid;

/* Which message: the writer's number of it, from 1; 0: not said. All zeros: none. */
typedef struct sinew_dds_identity {
  sinew_dds_guid writer;
  uint64_t number;
} sinew_dds_identity;

typedef struct sinew_dds_bytes {
  const uint8_t* data;
  size_t size;
} sinew_dds_bytes;

/* Quality of service, of those policies that ROS 2 has; liveliness is automatic. Times in nanoseconds; 0: for ever. */
typedef struct sinew_dds_qos {
  bool reliable;
  bool transient_local;
  uint32_t depth; /* 0: keep all, up to 1024 that others have not got yet. Discovery does not tell it: 0 there */
  int64_t lease;
  int64_t deadline;
  int64_t lifespan;
} sinew_dds_qos;

/* A writer or reader of somebody else. */
typedef struct sinew_dds_endpoint {
  sinew_dds_guid guid;
  bool writes;
  const char* topic;
  const char* type;
  sinew_dds_qos qos;
  sinew_dds_bytes user_data;
} sinew_dds_endpoint;

/* Another participant. */
typedef struct sinew_dds_stranger {
  sinew_dds_guid guid;
  uint8_t vendor[2]; /* 1.15: Fast DDS, 1.16: Cyclone DDS */
  sinew_dds_bytes user_data;
} sinew_dds_stranger;

/* Called by threads of the back end, one at a time, which must not wait in it for long. What is pointed to is there until it returns. */
typedef struct sinew_dds_discovery {
  void* context;
  void (*on_participant)(void* context, const sinew_dds_stranger* stranger);
  void (*on_participant_gone)(void* context, const sinew_dds_guid* guid);
  /* Also where its quality of service has changed. */
  void (*on_endpoint)(void* context, const sinew_dds_endpoint* endpoint);
  void (*on_endpoint_gone)(void* context, const sinew_dds_guid* guid);
} sinew_dds_discovery;

/* A message as it comes. */
typedef struct sinew_dds_message {
  size_t size;
  sinew_dds_identity identity;
  sinew_dds_identity related; /* of a reply, the request's; of a request, who reads its reply */
} sinew_dds_message;

/* Called by threads of the back end, one at a time for each writer or reader. */
typedef struct sinew_dds_listener {
  void* context;
  /* Somebody else's reader, or writer, is matched with it, or is not any more. */
  void (*on_matched)(void* context, const sinew_dds_guid* other, bool is_matched);
  /* Somebody else's would, but asks for more than it offers, or offers less than it asks for: of which policy, "reliability". */
  void (*on_incompatible)(void* context, const char* policy);
  /* Of readers: where a message of this many bytes is to be put; NULL: it is not wanted. The message itself follows at once, in on_message() of the same thread. */
  uint8_t* (*room_for)(void* context, size_t size);
  void (*on_message)(void* context, const sinew_dds_message* message);
  /* Of readers: this one has come, too, but it was not wanted, or has no data. */
  void (*on_unwanted)(void* context, const sinew_dds_identity* identity);
} sinew_dds_listener;

typedef struct sinew_dds_options {
  uint32_t domain;        /* ROS_DOMAIN_ID: 0 to 232 */
  const char* name;       /* of the participant */
  const char* interfaces; /* IPv4 addresses with commas between them, of those interfaces that it is to use; "": all */
  sinew_dds_bytes user_data;
} sinew_dds_options;

/* Topic and type as DDS has them: "rt/chatter", "std_msgs::msg::dds_::String_". */
typedef struct sinew_dds_topic {
  const char* name;
  const char* type;
  sinew_dds_qos qos;
  sinew_dds_bytes user_data;
} sinew_dds_topic;

/* What a back end does. What fails gives NULL or false, and writes why, as half a sentence, into `why`, which has room for SINEW_DDS_WHY bytes. */
enum { SINEW_DDS_WHY = 256 };
typedef struct sinew_dds_functions {
  uint32_t version;
  const char* name; /* "Fast DDS 2.9.1" */

  /* Discovery begins before it returns, and ends when close() has returned. All writers and readers are to be closed before. */
  sinew_dds_participant* (*open)(const sinew_dds_options* options, const sinew_dds_discovery* discovery, char* why);
  void (*close)(sinew_dds_participant* participant);
  void (*guid_of_participant)(const sinew_dds_participant* participant, sinew_dds_guid* guid);

  /* When close_writer() has returned, its listener is not called any more; likewise of readers. */
  sinew_dds_writer* (*open_writer)(sinew_dds_participant* participant, const sinew_dds_topic* topic, const sinew_dds_listener* listener,
                                   char* why);
  void (*close_writer)(sinew_dds_writer* writer);
  void (*guid_of_writer)(const sinew_dds_writer* writer, sinew_dds_guid* guid);
  /* Sends the message that the parts, joined, are: copied once. `related` may be NULL; `identity`, which may be NULL, gets its own. May be called within callbacks of others. Waits at most 100 ms where nothing may be lost and readers are late. */
  bool (*write)(sinew_dds_writer* writer, const sinew_dds_bytes* parts, size_t count, const sinew_dds_identity* related,
                sinew_dds_identity* identity);
  /* Whether its readers have acknowledged all that they are to get. */
  bool (*is_acknowledged)(sinew_dds_writer* writer);
  /* Forgets what it has kept for readers that come late, and what its readers have yet to acknowledge: so many messages. */
  size_t (*forget)(sinew_dds_writer* writer);

  sinew_dds_reader* (*open_reader)(sinew_dds_participant* participant, const sinew_dds_topic* topic, const sinew_dds_listener* listener,
                                   char* why);
  void (*close_reader)(sinew_dds_reader* reader);
  void (*guid_of_reader)(const sinew_dds_reader* reader, sinew_dds_guid* guid);
} sinew_dds_functions;

/* Lives as long as the library is loaded. */
__attribute__((visibility("default"))) const sinew_dds_functions* sinew_dds_back_end(void);

#ifdef __cplusplus
}
#endif

#endif
