// What became of a message given to publish().
#pragma once

#include <array>
#include <cstddef>

#include "sinew/detail/language.hpp"

namespace sinew {

/// Expected outcomes are values, not exceptions. Whatever the outcome, a loan or a std::unique_ptr that was given to publish() is gone; of an object or a std::shared_ptr the caller keeps its own.
enum class PublishResult {
  published,  ///< Every subscriber connected now can take it, but for one that gets a copy or a description of it (of another user, Delivery::view, Buffer::value) for which there was no memory: that counts it as missed.
  would_block,  ///< A reliable keep-all subscriber is a whole ring behind and did not catch up within PublisherOptions::max_blocking. Not published; counted in refused; logged once.
  no_memory,    ///< The publisher's memory budget or the machine's memory is used up. Not published; counted in refused.
  invalid,  ///< There is no message: the pointer is null, or the loan was moved from; or a std::variant in it has lost its value in an exception, so there is nothing to send for it. Not published; counted in refused. Of ActionClient::cancel: a goal that is none.
  closed,  ///< The node has been destroyed, the publisher is a ghost whose topic is gone, or this process was forked from the publisher's. Not published.
};

/// The word above, "would_block".
constexpr const char* to_string(PublishResult result) noexcept {
  constexpr std::array names = {"published", "would_block", "no_memory", "invalid", "closed"};
  const auto index = static_cast<std::size_t>(result);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace sinew
