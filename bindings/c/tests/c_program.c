/* The interface as a program in C has it: a message to itself, by a loan. Prints what it received. */
#include <inttypes.h>
#include <sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(sinew_status status, const char* what) {
  if (status == SINEW_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, sinew_status_name(status), sinew_last_error());
  exit(1);
}

int main(void) {
  static const char signature[] = "test/Number{value:uint32;}";
  static const uint8_t stream[] = {0, 1, 0, 0, 42, 0, 0, 0};
  sinew_node* node;
  sinew_publisher* publisher;
  sinew_subscriber* subscriber;
  sinew_qos qos = {.struct_size = sizeof qos, .transient_local = true};
  must(sinew_node_create("c_program", NULL, &node), "node");
  must(sinew_publisher_create(node, "number", signature, &qos, NULL, &publisher), "publisher");
  must(sinew_subscriber_create(node, "number", signature, &qos, NULL, &subscriber), "subscriber");

  sinew_loan* loan;
  uint8_t* data;
  must(sinew_publisher_loan(publisher, 100, &loan, &data), "loan");
  memcpy(data, stream, sizeof stream);
  must(sinew_publisher_publish_loan(publisher, loan, sizeof stream), "publish");

  sinew_frame* frame;
  must(sinew_subscriber_take(subscriber, -1, &frame), "take");
  const sinew_extent extent = sinew_frame_extent(frame, 0);
  const sinew_message_info info = sinew_frame_info(frame);
  printf("message %" PRIu64 " of %s: %u in %zu bytes\n", info.sequence, info.publisher, extent.data[4], extent.size);
  sinew_frame_release(frame);

  sinew_subscriber_destroy(subscriber);
  sinew_publisher_destroy(publisher);
  sinew_node_destroy(node);
  return 0;
}
