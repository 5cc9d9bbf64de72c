// What clients and providers of services count.
#pragma once

#include <cstdint>

#include "sinew/detail/language.hpp"

namespace sinew {

/// Counts since the client was created. A snapshot, not an atomic one.
struct ServiceClientStatistics {
  std::uint64_t calls = 0;     ///< that were made
  std::uint64_t answered = 0;  ///< with a response
  std::uint64_t failed = 0;    ///< with a ServiceError
  std::uint64_t resent = 0;    ///< requests that went to another provider, because the one before has gone without an answer
  std::uint64_t strays = 0;    ///< responses to nothing that was asked, or not of whom was asked; dropped
  std::uint64_t rejected = 0;  ///< responses that could not be read, or that there was no memory to receive; their calls have failed
  std::uint64_t pending = 0;   ///< calls that wait now
  std::uint64_t bytes_copied =
      0;  ///< of requests, for other processes of this user: of those that were not loaned, or loaned without memory, and what of loans lay outside of them
  std::uint64_t providers = 0;  ///< connected now
  bool detached = false;        ///< it is a ghost, and its service is gone
};

/// Counts since the provider was created. A snapshot, not an atomic one.
struct ServiceProviderStatistics {
  std::uint64_t answered = 0;     ///< responses sent
  std::uint64_t threw = 0;        ///< requests whose handler threw, but for want of memory, or made a response that cannot be sent
  std::uint64_t cancelled = 0;    ///< requests nobody waited for any more when they had been executed, or before
  std::uint64_t undelivered = 0;  ///< responses whose client did not take those before
  std::uint64_t excess = 0;       ///< requests of clients that had more here than they may; dropped
  std::uint64_t rejected = 0;     ///< requests that could not be read, or that there was no memory to receive; their clients were told
  std::uint64_t running = 0;      ///< requests received and not answered
  std::uint64_t bytes_copied =
      0;  ///< of responses, for other processes of this user: of those that were not built by ServiceCall::build(), and what of these lay outside of them
  std::uint64_t clients = 0;  ///< connected now
  bool detached = false;      ///< it is a ghost, and its service is gone
};

}  // namespace sinew
