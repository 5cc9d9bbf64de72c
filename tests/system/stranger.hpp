// Somebody who speaks the control protocol by hand, byte by byte if need be: to the manager, and to a peer that the manager introduces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "manager/server/tests/talk.hpp"
#include "os/fd.hpp"
#include "os/memory.hpp"
#include "shm/layout.hpp"
#include "shm/ring.hpp"
#include "sinew/msg/reflect.hpp"
#include "wire/messages.hpp"

namespace sinew::system {

class Talk : public manager::Talk {
 public:
  using manager::Talk::Talk;
  /// What says why may come before.
  void expect_end();
};

/// A node by hand.
class Stranger {
 public:
  explicit Stranger(const std::string& name);

  template <class T>
  static wire::TypeDescription type() {
    const msg::Message message = msg::message_of<T>();
    return {message.name, message.signature, message.hash, message.layout};
  }
  /// Registers as a subscriber of a topic that has one publisher, and gives the pair to it.
  template <class T>
  Talk meet_publisher(const std::string& topic, const wire::Qos& qos = {.depth = 8}, std::uint64_t endpoint = 0) {
    manager.send(wire::RegisterSubscriber{++last_id_, topic, type<T>(), qos, 0, endpoint});
    manager.expect<wire::SubscriberRegistered>();
    met_publisher = manager.expect<wire::ConnectSubscriber>();
    return pair();
  }
  /// Registers as the publisher of a topic that has one subscriber, and gives the pair to it.
  template <class T>
  Talk meet_subscriber(const std::string& topic, const wire::Qos& qos = {.depth = 8}, std::uint64_t endpoint = 0) {
    manager.send(wire::RegisterPublisher{++last_id_, topic, type<T>(), qos, 0, endpoint});
    window = manager.expect<wire::PublisherRegistered>().window;
    met_subscriber = manager.expect<wire::ConnectPublisher>();
    return pair();
  }
  /// How many windows the manager can still give out: takes them all.
  std::uint64_t count_free_windows();

  Talk manager;
  wire::NodeRegistered welcome;
  wire::ConnectSubscriber met_publisher;
  wire::ConnectPublisher met_subscriber;
  wire::Window window;

 private:
  Talk pair() { return Talk(manager.descriptors.empty() ? os::Fd() : std::move(manager.descriptors[0])); }

  std::uint64_t last_id_ = 0;
};

/// Whether the manager could give every window of its range to newcomers. They do not stay.
bool all_windows_are_free();

/// A file of shared memory as the library makes them, still writable here.
struct Page {
  explicit Page(std::size_t size = os::page_size(), bool sealed = true);
  template <class Layout>
  Layout& as() {
    return *std::launder(reinterpret_cast<Layout*>(mapping.data()));
  }
  os::Fd file;
  os::Mapping mapping;
};

/// A subscriber's end by hand.
struct HandSubscriber {
  /// `connection` is the pair with a publisher.
  explicit HandSubscriber(Talk connection);
  bool send_doorbell();
  bool send_attach();
  /// Speaks until the ring is here and mapped; false when the publisher ends the connection instead.
  bool attach();
  shm::AckPage& acks() { return ack.as<shm::AckPage>(); }
  const shm::RingLayout& ring_layout() const { return *std::launder(reinterpret_cast<const shm::RingLayout*>(ring_mapping.data())); }

  Talk pair;
  Page bell;
  os::Fd eventfd;
  Page ack;
  std::optional<wire::Ring> ring;
  os::Mapping ring_mapping;
  shm::PairCounts counts{};
};

/// A publisher's end by hand: one ring, and one chunk at the beginning of its window. It writes the chunk at another place, so that the window's
/// addresses are free for a subscriber in this process.
struct HandPublisher {
  HandPublisher(Talk connection, const wire::Window& its_window);
  /// Speaks until the subscriber has sent everything that it owes.
  bool take_attach();
  bool send_ring();
  bool send_chunk(std::uint64_t id = 1);
  /// Where to write what readers will find `offset` bytes from the beginning of the chunk, and where they find it.
  std::byte* at(std::size_t offset) { return chunk.mapping.data() + offset; }
  std::uintptr_t address(std::size_t offset) const { return window.base + offset; }
  /// Lays a message with this number and nothing in its containers there; where readers find it.
  std::uintptr_t lay(std::size_t offset, std::uint64_t number);
  /// Publishes whatever lies at `root`, and rings.
  void publish(std::uintptr_t root, std::uint64_t newest_chunk = 1, std::uint64_t pieces = shm::pieces_unknown,
               std::optional<std::int64_t> source_time = std::nullopt);

  Talk pair;
  wire::Window window;
  Page ring;
  Page chunk;
  os::Fd bell_eventfd, ack_file;
  std::optional<shm::RingWriter> writer;
};

}  // namespace sinew::system
