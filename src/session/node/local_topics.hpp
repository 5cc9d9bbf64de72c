// Which publishers and subscriptions of this process meet by themselves, without the manager's introduction.
//
// Both must be of one domain and topic, with the same layout of the type; the manager leaves such pairs out (spec/wire.md, "Introductions"). They are joined before
// create_publisher() or create_subscriber() returns, so that the first message after it arrives.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "wire/messages.hpp"

namespace sinew::session {

class Publisher;
class Subscription;

/// Thread-safe.
class LocalTopics {
 public:
  /// The one of this process. Never destroyed: nodes in statics may outlive it.
  static LocalTopics& instance();
  /// A number that tells those of this process that meet here from all others, chosen once at random; never 0. Each name of a domain has its own: who names one domain in two ways does not meet here.
  std::uint64_t process(const std::string& domain);

  struct End {
    std::string domain, topic;
    std::uint64_t layout = 0;
    std::string node;
  };
  void add(const End& end, const std::shared_ptr<Publisher>& publisher);
  void add(const End& end, const std::shared_ptr<Subscription>& subscription);
  void remove(const Publisher& publisher);
  void remove(const Subscription& subscription);

 private:
  LocalTopics() = default;
  struct Topic {
    std::vector<std::pair<End, std::shared_ptr<Publisher>>> publishers;
    std::vector<std::pair<End, std::shared_ptr<Subscription>>> subscriptions;
  };
  using Key = std::pair<std::string, std::string>;  // domain and topic
  using Topics = std::map<Key, Topic>;

  Topic& enter_locked(const End& end, const void* who);
  Topics::iterator leave_locked(const void* who) noexcept;
  void forget_if_unused_locked(Topics::iterator topic) noexcept;

  std::mutex mutex_;                                // taken before those of publishers and subscriptions
  std::map<std::string, std::uint64_t> processes_;  // by domains
  Topics topics_;
  std::unordered_map<const void*, Topics::iterator>
      places_;  // in which of them each is, so that leaving costs the same however many there are
};

}  // namespace sinew::session
