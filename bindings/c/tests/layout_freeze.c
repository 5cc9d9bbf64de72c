/* What programs were compiled with, frozen: no test code, compiling it is the check, on every machine of 64 bits. Options may grow at their ends; anything else that changes here changes the upper half of SINEW_ABI_VERSION. */
#include "bindings/c/sinew.h"

#define AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has another size")

_Static_assert(SINEW_ABI_VERSION == 0x00010000u, "the version of the interface");
SIZE(sinew_status, 4);
_Static_assert(SINEW_OK == 0 && SINEW_INVALID_ARGUMENT == 1 && SINEW_NAME_TAKEN == 2 && SINEW_TYPE_MISMATCH == 3, "statuses");
_Static_assert(SINEW_INCOMPATIBLE == 4 && SINEW_UNAVAILABLE == 5 && SINEW_DENIED == 6 && SINEW_EXHAUSTED == 7, "statuses");
_Static_assert(SINEW_DISCONNECTED == 8 && SINEW_SYSTEM == 9 && SINEW_NO_MEMORY == 10 && SINEW_WOULD_BLOCK == 11, "statuses");
_Static_assert(SINEW_INVALID_MESSAGE == 12 && SINEW_CLOSED == 13 && SINEW_NOTHING == 14, "statuses");
_Static_assert(SINEW_FAILED == 15 && SINEW_TIMEOUT == 16 && SINEW_CANCELLED == 17 && SINEW_LOST == 18, "statuses");
_Static_assert(SINEW_EVENT_MATCHED == 1 && SINEW_EVENT_INCOMPATIBLE_QOS == 2 && SINEW_EVENT_DEADLINE_MISSED == 4, "events");
_Static_assert(SINEW_EVENT_LIVELINESS_LOST == 8 && SINEW_EVENT_LIVELINESS_CHANGED == 16 && SINEW_EVENT_MESSAGE_LOST == 32, "events");
_Static_assert(SINEW_EVENT_DETACHED == 64, "events");
_Static_assert(SINEW_DELIVERY_POINTER == 0 && SINEW_DELIVERY_NATIVE == 1 && SINEW_DELIVERY_VIEW == 2, "deliveries");
_Static_assert(SINEW_DELIVERY_COPY == 3, "deliveries");
_Static_assert(SINEW_WHEN_FULL_WITHDRAW == 0 && SINEW_WHEN_FULL_WITHDRAW_SOME == 1 && SINEW_WHEN_FULL_REFUSE == 2, "when_full");
_Static_assert(SINEW_WHEN_FULL_WAIT == 3, "when_full");
_Static_assert(SINEW_GHOST_NO == 0 && SINEW_GHOST_CARRIER == 1 && SINEW_GHOST_OBSERVER == 2, "ghosts");

SIZE(sinew_node_options, 16);
AT(sinew_node_options, struct_size, 0);
AT(sinew_node_options, by_caller, 4);
AT(sinew_node_options, domain, 8);

SIZE(sinew_qos, 40);
AT(sinew_qos, depth, 4);
AT(sinew_qos, keep_all, 8);
AT(sinew_qos, reliable, 9);
AT(sinew_qos, transient_local, 10);
AT(sinew_qos, manual_by_topic, 11);
AT(sinew_qos, deadline_ns, 16);
AT(sinew_qos, lifespan_ns, 24);
AT(sinew_qos, lease_ns, 32);

SIZE(sinew_event, 96);
AT(sinew_event, kind, 0);
AT(sinew_event, reserved, 4);
AT(sinew_event, total_count, 8);
AT(sinew_event, total_count_change, 16);
AT(sinew_event, current_count, 24);
AT(sinew_event, current_count_change, 32);
AT(sinew_event, not_alive_count, 40);
AT(sinew_event, not_alive_count_change, 48);
AT(sinew_event, pushed_out, 56);
AT(sinew_event, withdrawn, 64);
AT(sinew_event, expired, 72);
AT(sinew_event, node, 80);
AT(sinew_event, text, 88);

SIZE(sinew_extent, 16);
AT(sinew_extent, data, 0);
AT(sinew_extent, size, 8);

SIZE(sinew_message_info, 48);
AT(sinew_message_info, publisher, 0);
AT(sinew_message_info, sequence, 8);
AT(sinew_message_info, source_time_ns, 16);
AT(sinew_message_info, receive_time_ns, 24);
AT(sinew_message_info, missed, 32);
AT(sinew_message_info, delivery, 40);

SIZE(sinew_publisher_options, 72);
AT(sinew_publisher_options, execution_thread, 4);
AT(sinew_publisher_options, memory_budget, 8);
AT(sinew_publisher_options, prefault, 16);
AT(sinew_publisher_options, max_blocking_ns, 24);
AT(sinew_publisher_options, when_full, 32);
AT(sinew_publisher_options, withdraw_at_most, 36);
AT(sinew_publisher_options, lock_memory, 40);
AT(sinew_publisher_options, ghost, 41);
AT(sinew_publisher_options, events, 44);
AT(sinew_publisher_options, on_event, 48);
AT(sinew_publisher_options, context, 56);
AT(sinew_publisher_options, release, 64);

SIZE(sinew_publisher_statistics, 104);
AT(sinew_publisher_statistics, published, 0);
AT(sinew_publisher_statistics, liveliness_lost, 88);
AT(sinew_publisher_statistics, detached, 96);

SIZE(sinew_subscriber_options, 64);
AT(sinew_subscriber_options, execution_thread, 4);
AT(sinew_subscriber_options, every, 8);
AT(sinew_subscriber_options, events, 12);
AT(sinew_subscriber_options, max_rate, 16);
AT(sinew_subscriber_options, ghost, 24);
AT(sinew_subscriber_options, on_frame, 32);
AT(sinew_subscriber_options, on_event, 40);
AT(sinew_subscriber_options, context, 48);
AT(sinew_subscriber_options, release, 56);

SIZE(sinew_subscriber_statistics, 128);
AT(sinew_subscriber_statistics, received, 0);
AT(sinew_subscriber_statistics, waiting, 80);
AT(sinew_subscriber_statistics, publishers_not_alive, 112);
AT(sinew_subscriber_statistics, detached, 120);

SIZE(sinew_client_options, 16);
AT(sinew_client_options, ghost, 4);
AT(sinew_client_options, memory_budget, 8);

SIZE(sinew_client_statistics, 80);
AT(sinew_client_statistics, calls, 0);
AT(sinew_client_statistics, providers, 64);
AT(sinew_client_statistics, detached, 72);

SIZE(sinew_provider_options, 48);
AT(sinew_provider_options, execution_thread, 4);
AT(sinew_provider_options, memory_budget, 8);
AT(sinew_provider_options, at_most_once, 16);
AT(sinew_provider_options, ghost, 17);
AT(sinew_provider_options, on_request, 24);
AT(sinew_provider_options, context, 32);
AT(sinew_provider_options, release, 40);

SIZE(sinew_provider_statistics, 80);
AT(sinew_provider_statistics, answered, 0);
AT(sinew_provider_statistics, clients, 64);
AT(sinew_provider_statistics, detached, 72);

SIZE(sinew_domain_node, 40);
AT(sinew_domain_node, name, 8);
AT(sinew_domain_node, container, 16);
AT(sinew_domain_node, pid, 24);
AT(sinew_domain_node, uid, 32);
AT(sinew_domain_node, gid, 36);

SIZE(sinew_domain_topic, 48);
AT(sinew_domain_topic, name, 8);
AT(sinew_domain_topic, type, 16);
AT(sinew_domain_topic, signature, 24);
AT(sinew_domain_topic, hash, 32);

SIZE(sinew_domain_endpoint, 72);
AT(sinew_domain_endpoint, node, 8);
AT(sinew_domain_endpoint, topic, 16);
AT(sinew_domain_endpoint, memory, 24);
AT(sinew_domain_endpoint, deadline_ns, 32);
AT(sinew_domain_endpoint, lifespan_ns, 40);
AT(sinew_domain_endpoint, lease_ns, 48);
AT(sinew_domain_endpoint, depth, 56);
AT(sinew_domain_endpoint, publishes, 60);
AT(sinew_domain_endpoint, ghost, 61);
AT(sinew_domain_endpoint, reliable, 62);
AT(sinew_domain_endpoint, transient_local, 63);
AT(sinew_domain_endpoint, manual_by_topic, 64);

SIZE(sinew_domain_pair, 32);
AT(sinew_domain_pair, subscriber, 8);
AT(sinew_domain_pair, why, 16);
AT(sinew_domain_pair, delivery, 24);
AT(sinew_domain_pair, connected, 28);

SIZE(sinew_timer_options, 32);
AT(sinew_timer_options, execution_thread, 4);
AT(sinew_timer_options, on_time, 8);
AT(sinew_timer_options, context, 16);
AT(sinew_timer_options, release, 24);

SIZE(sinew_domain_watch_options, 32);
AT(sinew_domain_watch_options, execution_thread, 4);
AT(sinew_domain_watch_options, on_update, 8);
AT(sinew_domain_watch_options, context, 16);
AT(sinew_domain_watch_options, release, 24);

SIZE(sinew_publisher_counts, 72);
AT(sinew_publisher_counts, identity, 8);
AT(sinew_publisher_counts, messages, 16);
AT(sinew_publisher_counts, bytes, 24);
AT(sinew_publisher_counts, bytes_copied, 32);
AT(sinew_publisher_counts, bytes_exported, 40);
AT(sinew_publisher_counts, refused, 48);
AT(sinew_publisher_counts, withdrawn, 56);
AT(sinew_publisher_counts, newest_ns, 64);

SIZE(sinew_pair_counts, 296);
AT(sinew_pair_counts, subscriber, 8);
AT(sinew_pair_counts, publisher_identity, 16);
AT(sinew_pair_counts, subscriber_identity, 24);
AT(sinew_pair_counts, messages, 32);
AT(sinew_pair_counts, missed, 40);
AT(sinew_pair_counts, withdrawn, 48);
AT(sinew_pair_counts, expired, 56);
AT(sinew_pair_counts, skipped, 64);
AT(sinew_pair_counts, over_quota, 72);
AT(sinew_pair_counts, bytes_copied, 80);
AT(sinew_pair_counts, held, 88);
AT(sinew_pair_counts, latency_total_ns, 96);
AT(sinew_pair_counts, latency, 104);
