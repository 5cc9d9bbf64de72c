// Messages through sinew: a struct with a vector in it, as a user would write it.
#pragma once

#include <memory>
#include <string>

#include "cell.hpp"
#include "transport.hpp"

namespace sinew::bench {

enum class Publishing {
  loan,  ///< built in shared memory, published in place
  copy,  ///< built on the heap once and filled again for each message, copied by publish(const T&)
};

/// A node for each publisher and each subscriber in the domain `domain`. At a rate, subscribers keep the last eight messages, as many as the floor has slots;
/// flat out both sides keep all, reliably, so that nothing is lost.
std::unique_ptr<Transport> make_through_sinew(const Cell& cell, Publishing publishing, const std::string& domain);

}  // namespace sinew::bench
