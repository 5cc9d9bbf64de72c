/* A program of Cyclone DDS in C, for the tests of the bridge to ROS 2: ros2_echo DOMAIN_ID
 *
 * Publishes each message that comes on `rt/out_NAME` on `rt/in_NAME`, for all types that types.idl has, until there is nothing more to read on standard input. What it has of a message between is the
 * structure that idlc makes of the type. */
#include <dds/dds.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "types.h"

struct echo {
  const char *in, *out;
  const dds_topic_descriptor_t* type;
  dds_entity_t reader, writer;
};

static struct echo echoes[] = {
#include "echoes.inc"
};
enum { count = sizeof echoes / sizeof echoes[0] };

static dds_entity_t made(dds_entity_t entity, const char* what) {
  if (entity < 0) {
    fprintf(stderr, "ros2_echo: %s: %s\n", what, dds_strretcode(-entity));
    exit(1);
  }
  return entity;
}

static void open_ends(struct echo* echo, dds_entity_t participant, const dds_qos_t* qos) {
  const dds_entity_t in = made(dds_create_topic(participant, echo->type, echo->in, NULL, NULL), echo->in);
  const dds_entity_t out = made(dds_create_topic(participant, echo->type, echo->out, NULL, NULL), echo->out);
  echo->reader = made(dds_create_reader(participant, in, qos, NULL), echo->in);
  echo->writer = made(dds_create_writer(participant, out, qos, NULL), echo->out);
}

static void pass_on(const struct echo* echo) {
  void* message = NULL;
  dds_sample_info_t info;
  while (dds_take(echo->reader, &message, &info, 1, 1) > 0) {
    if (info.valid_data && dds_write(echo->writer, message) < 0) fprintf(stderr, "ros2_echo: a message of %s is not written\n", echo->in);
    dds_return_loan(echo->reader, &message, 1);
    message = NULL;
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const dds_entity_t participant = made(dds_create_participant((dds_domainid_t)atoi(argv[1]), NULL, NULL), "the participant");
  dds_qos_t* const qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 5);
  for (int at = 0; at < count; ++at) open_ends(&echoes[at], participant, qos);
  dds_delete_qos(qos);
  struct pollfd input = {.fd = 0, .events = POLLIN};
  while (poll(&input, 1, 2) == 0) {
    for (int at = 0; at < count; ++at) pass_on(&echoes[at]);
  }
  return dds_delete(participant) < 0;
}
