#include "systems.hpp"

#include "floor.hpp"
#include "idle.hpp"
#include "private_domain.hpp"
#include "stage.hpp"
#include "stream.hpp"
#include "through_sinew.hpp"

namespace sinew::bench {

namespace {

Samples floor_by(const Cell& cell) {
  return run_processes(cell, *make_floor(cell));
}
Samples sinew_by(const Cell& cell, Publishing publishing) {
  const PrivateDomain domain;
  return run_processes(cell, *make_through_sinew(cell, publishing, domain.name()));
}

Samples idle_sinew(const Cell& cell) {
  const PrivateDomain domain;
  return measure_idle(cell, domain.name());
}

Samples stream_by(const Cell& cell, Stream kind) {
  return run_processes(cell, *make_stream(cell, kind));
}

constexpr System all[] = {
    {"floor", "bare shared memory; block: one eventfd write wakes a subscriber, spin: it spins on a cache line", floor_by},
    {"memcpy", "one copy of SIZE bytes into shared memory, in one process", measure_memcpy},
    {"sinew-loan", "sinew, messages built in shared memory", [](const Cell& cell) { return sinew_by(cell, Publishing::loan); }},
    {"sinew-publish", "sinew, publish(const T&)", [](const Cell& cell) { return sinew_by(cell, Publishing::copy); }},
    {"sinew-idle", "processor time and memory of a node with nothing to do, for COUNT seconds", idle_sinew},
    {"tcp", "loopback TCP, length prefix, into a vector of the receiver", [](const Cell& cell) { return stream_by(cell, Stream::tcp); }},
    {"unix", "the same over a unix stream socket", [](const Cell& cell) { return stream_by(cell, Stream::unix_socket); }},
};

}  // namespace

std::span<const System> systems() {
  return all;
}

}  // namespace sinew::bench
