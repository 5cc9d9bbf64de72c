// Whether a publisher offers what a subscriber asks for: the rules of DDS for requested and offered QoS.
#pragma once

#include <string>
#include <vector>

#include "wire/messages.hpp"

namespace sinew::wire {

/// What the two sides must agree about. History and lifespan are not among it: each side has its own.
enum class Policy : std::uint8_t { reliability, durability, deadline, liveliness };

/// The policies of which `offered` is less than `asked`, in the order of Policy; none: the two fit together. Pure. A publisher offers enough when
/// * it is reliable, or that is not asked for;
/// * it is transient-local, or that is not asked for;
/// * its deadline is at most the one that is asked for, where none is the longest;
/// * its liveliness is at least the one that is asked for, where by-topic is more than automatic, and its lease at most that, where none is the longest.
std::vector<Policy> incompatible_policies(const Qos& offered, const Qos& asked);

/// What each side says about a policy, as text, and a sentence of what to do where that does not fit.
struct Terms {
  std::string name, offered, asked, remedy;
};
Terms terms_of(Policy policy, const Qos& offered, const Qos& asked);

/// The same as a sentence: "reliability: the publisher offers best_effort, the subscriber asks for reliable".
std::string explain(Policy policy, const Qos& offered, const Qos& asked);

}  // namespace sinew::wire
