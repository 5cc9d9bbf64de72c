// Reads what the nodes of a domain count.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "session/mappings.hpp"
#include "session/node/domain_watch.hpp"
#include "sinew/domain.hpp"

namespace sinew::session {

class NodeSession;

/// Thread-safe.
class CounterReader {
 public:
  /// Blocks until the manager has told of everything. Throws Error(exhausted, disconnected, unavailable).
  static std::shared_ptr<CounterReader> create(const std::shared_ptr<NodeSession>& session);
  ~CounterReader();
  CounterReader(const CounterReader&) = delete;
  CounterReader& operator=(const CounterReader&) = delete;

  DomainCounts read() const;

 private:
  struct File {
    std::uint64_t node = 0;
    SharedMapping mapping;
    std::uint32_t slots = 0;
  };
  struct Endpoint {
    std::uint64_t id = 0, node = 0;
  };
  /// A node whose endpoints have an identity: one, and another while it is registered once more ([W88]).
  struct Holder {
    std::uint64_t node = 0;
    std::set<std::uint64_t> endpoints;
  };

  explicit CounterReader(std::shared_ptr<NodeSession> session) noexcept : session_(std::move(session)) {}
  void apply(const ToldDomain& told);
  void came_locked(const ToldDomain::Identity& told);
  void gone_locked(std::uint64_t endpoint);
  void read_locked(const File& file, DomainCounts& into) const;
  std::optional<Endpoint> find_locked(std::uint64_t identity) const;

  const std::shared_ptr<NodeSession> session_;
  std::shared_ptr<DomainWatch> watch_;
  mutable std::mutex mutex_;                                        // guards what follows
  std::map<std::uint64_t, File> files_;                             // by their numbers
  std::unordered_map<std::uint64_t, std::vector<Holder>> holders_;  // of identities, in the order in which they came
  std::unordered_map<std::uint64_t, std::uint64_t> identities_;     // of endpoints, by their ids
};

}  // namespace sinew::session
