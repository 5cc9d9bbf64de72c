#include "tests/system/stranger.hpp"

#include <cstdlib>
#include <new>

#include "os/socket.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

os::Fd connection_to_manager() {
  auto socket = os::connect_to(std::getenv("SINEW_DOMAIN"));
  if (!socket) fail("no manager listens: a stranger comes after the first node");
  return std::move(*socket);
}

}  // namespace

// --- talking -----------------------------------------------------------------------------------------------------------------------

void Talk::expect_end() {
  while (const auto message = receive()) {
    if (!std::holds_alternative<wire::ErrorText>(*message)) ADD_FAILURE() << wire::name_of(*message) << " came instead of the end";
  }
}

// --- a node by hand ------------------------------------------------------------------------------------------------------------------

Stranger::Stranger(const std::string& name) : manager(connection_to_manager()) {
  manager.send(wire::RegisterNode{wire::protocol_version, name});
  welcome = manager.expect<wire::NodeRegistered>();
}

std::uint64_t Stranger::count_free_windows() {
  for (std::uint64_t count = 0;; ++count) {
    manager.send(wire::RegisterPublisher{++last_id_, "windows/" + std::to_string(last_id_), type<std::uint32_t>(), {.depth = 1}});
    const auto answer = manager.receive();
    if (!answer || !std::holds_alternative<wire::PublisherRegistered>(*answer)) return count;
  }
}

// --- shared memory by hand -------------------------------------------------------------------------------------------------------------

Page::Page(std::size_t size, bool sealed)
    : file(os::create_memfd("by-hand", size)), mapping(os::Mapping::map(file, size, os::Access::read_write)) {
  if (sealed) os::seal_for_readers(file);
}

namespace {
std::size_t whole_pages(std::size_t size) {
  return (size + os::page_size() - 1) / os::page_size() * os::page_size();
}
}  // namespace

HandSubscriber::HandSubscriber(Talk connection)
    : pair(std::move(connection)), eventfd(os::create_eventfd()), ack(whole_pages(sizeof(shm::AckPage))) {
  shm::initialise(ack.as<shm::AckPage>());
}

bool HandSubscriber::send_doorbell() {
  return pair.send(wire::Doorbell{static_cast<std::uint32_t>(bell.mapping.size()), 0}, {bell.file.get(), eventfd.get()});
}

bool HandSubscriber::send_attach() {
  return pair.send(wire::Attach{static_cast<std::uint32_t>(ack.mapping.size())}, {ack.file.get()});
}

bool HandSubscriber::attach() {
  if (!send_doorbell()) return false;
  while (const auto message = pair.receive()) {
    if (std::holds_alternative<wire::DoorbellTaken>(*message)) {
      send_attach();
    } else if (const auto* found = std::get_if<wire::Ring>(&*message)) {
      ring = *found;
      ring_mapping = os::Mapping::map(pair.descriptors[0], found->size, os::Access::read);
      return true;
    } else if (!std::holds_alternative<wire::Space>(*message)) {
      return false;
    }
  }
  return false;
}

HandPublisher::HandPublisher(Talk connection, const wire::Window& its_window)
    : pair(std::move(connection)), window(its_window), ring(whole_pages(sizeof(shm::RingLayout))), chunk(std::size_t{1} << 20) {
  shm::initialise(ring.as<shm::RingLayout>());
  writer.emplace(ring.as<shm::RingLayout>());
}

bool HandPublisher::take_attach() {
  const auto doorbell = pair.receive();
  if (!doorbell || !std::holds_alternative<wire::Doorbell>(*doorbell)) return false;
  bell_eventfd = std::move(pair.descriptors[1]);
  pair.send(wire::DoorbellTaken{});
  auto attach = pair.receive();
  if (attach && std::holds_alternative<wire::ReadsPieces>(*attach)) attach = pair.receive();
  if (!attach || !std::holds_alternative<wire::Attach>(*attach)) return false;
  ack_file = std::move(pair.descriptors[0]);
  return true;
}

bool HandPublisher::send_ring() {
  return pair.send(wire::Ring{static_cast<std::uint32_t>(ring.mapping.size()), 1, window.size}, {ring.file.get()});
}

bool HandPublisher::send_chunk(std::uint64_t id) {
  return pair.send(wire::Chunk{id, window.base, chunk.mapping.size()}, {chunk.file.get()});
}

std::uintptr_t HandPublisher::lay(std::size_t offset, std::uint64_t number) {
  auto* const sample = new (at(offset)) Sample{};
  sample->number = number;
  // A small string points into itself; a reader finds it elsewhere.
  *reinterpret_cast<std::uintptr_t*>(&sample->text) += address(offset) - reinterpret_cast<std::uintptr_t>(at(offset));
  return address(offset);
}

void HandPublisher::publish(std::uintptr_t root, std::uint64_t newest_chunk, std::uint64_t pieces,
                            std::optional<std::int64_t> source_time) {
  writer->publish({.root = root,
                   .size = sizeof(Sample),
                   .source_time = source_time.value_or(os::now_ns()),
                   .newest_chunk = newest_chunk,
                   .pieces = pieces});
  os::ring(bell_eventfd.get());
}

bool all_windows_are_free() {
  Stranger stranger("counter_" + std::to_string(os::now_ns()));
  return stranger.count_free_windows() == stranger.welcome.window_count;
}

}  // namespace sinew::system
