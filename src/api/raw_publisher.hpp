// Publishing messages of which there are no objects but CDR streams: for other languages, players and gateways.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "session/publisher/new_frame.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/node.hpp"

namespace sinew::detail {

/// Room for a stream where subscribers will read it; unique ownership. Not thread-safe. What is not published is given back. Keeps the publisher.
class RawLoan {
 public:
  ~RawLoan();
  RawLoan(const RawLoan&) = delete;
  RawLoan& operator=(const RawLoan&) = delete;

  /// What is written here goes to subscribers as it is: the body, behind 4 bytes, is aligned to 16.
  std::span<std::byte> bytes() const noexcept;
  /// They stay where and as they are, whatever becomes of the loan, until the last copy of this is gone, which needs neither publisher nor node. Null in a child of fork(). Throws std::bad_alloc.
  std::shared_ptr<const void> keep() const;

 private:
  friend class RawPublisher;
  explicit RawLoan(std::shared_ptr<PublisherCore> core) noexcept : core_(std::move(core)) {}

  std::shared_ptr<PublisherCore> core_;
  session::NewFrame frame_;
};

/// Publishes streams, which it does not read but for their encapsulation: who decodes one that is not of the topic's type rejects it. Thread-safe; PublishResult as for other publishers.
class RawPublisher {
 public:
  /// Throws as Node::create_publisher, and Error(invalid_argument) where the signature is none.
  static RawPublisher create(const Node& node, const std::string& topic, const std::string& signature, const Qos& qos = {},
                             const PublisherOptions& options = {});

  /// Room for a stream of at most so many bytes. Null when there is no memory for it, which is counted and logged as for other publishers, or the publisher is closed; `why`, if given, says which.
  std::unique_ptr<RawLoan> loan(std::size_t capacity, PublishResult* why = nullptr) const;
  /// Publishes the first so many bytes of it. REQUIRES: the loan is this publisher's. The loan is gone, whatever the result. `invalid`: they are no stream, or it has fewer, or is null; `why_invalid`, if given, says which.
  PublishResult publish(std::unique_ptr<RawLoan> loan, std::size_t used, std::string* why_invalid = nullptr) const;
  /// Publishes the stream that these are, one behind the other: those that lie in the loan are not copied, the others are, into the window. Likewise.
  PublishResult publish(std::unique_ptr<RawLoan> loan, std::span<const std::span<const std::byte>> extents) const;
  /// Publishes the stream that these are, one behind the other: one copy, into the window.
  PublishResult publish(std::span<const std::span<const std::byte>> extents) const;

  /// Why there was no memory for a message the last time (`no_memory`): sentences for a person. Empty when shared memory never was short, or the process had no memory for the sentence.
  std::string why_no_memory() const;

  PublisherCore& core() const noexcept { return *core_; }

 private:
  explicit RawPublisher(std::shared_ptr<PublisherCore> core) noexcept : core_(std::move(core)) {}

  std::shared_ptr<PublisherCore> core_;
};

}  // namespace sinew::detail
