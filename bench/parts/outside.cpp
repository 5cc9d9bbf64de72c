#include "parts/outside.hpp"

namespace sinew::bench {

namespace {

constexpr Part all[] = {
    {"handle", "copy a received shared_ptr, look at the message, destroy the copy; floor: the same of make_shared", measure_handle},
    {"publish", "loan a struct of 128 bytes and publish it to a subscriber that is awake", measure_publish},
    {"publish-vector", "the same of a vector of 128 bytes", measure_publish_vector},
    {"life", "loan a struct of 128 bytes, publish it, take() and drop it, and use its memory again", measure_life},
    {"take", "take() of a struct of 128 bytes, and drop it", measure_take},
    {"take-vector", "the same of a vector of 128 bytes", measure_take_vector},
    {"pointer-spin-128",
     "COUNT times publish(unique_ptr) of 128 bytes to the callback on a thread that spins; floor: a word that it spins on",
     measure_pointer_spin_small},
    {"pointer-spin-16m", "the same of 16 MB", measure_pointer_spin_large},
    {"pointer-128", "the same of 128 bytes to a thread that sleeps; floor: an eventfd", measure_pointer_block_small},
    {"pointer-16m", "the same of 16 MB", measure_pointer_block_large},
    {"service-128", "COUNT calls of a service in another process, 128 bytes back, both ends asleep; floor: two eventfds",
     measure_service_small},
    {"service-10m", "the same of 10 MB; the floor fills as many bytes", measure_service_large},
    {"request-10m", "the same with 10 MB in the request, which is loaned; the floor fills as many bytes", measure_request_large},
    {"heap-16", "operator new and delete of 16 bytes outside any loan; floor: malloc and free", measure_heap_16},
    {"heap-256", "the same of 256 bytes", measure_heap_256},
    {"churn", "publish, take and reclaim COUNT messages of 16 B to 64 KiB: does resident memory stay?", measure_churn},
    {"hour", "COUNT seconds of a robot's messages, as fast as they go: mapped memory for what is in use", measure_hour},
    {"hour-one-window", "the same, all kinds of messages in the memory of one publisher", measure_hour_one_window},
};

}  // namespace

std::span<const Part> parts() {
  return all;
}

}  // namespace sinew::bench
