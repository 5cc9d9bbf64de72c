// A message in a window.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "msg/walk.hpp"
#include "parts/inside/memory.hpp"
#include "sinew/msg/reflect.hpp"

namespace sinew::bench {

/// As a publisher has it before publish(), and a subscriber once it has come. Both ask the window, in two loads; a subscriber really has a
/// sorted table of the few chunks.
template <class T>
class Placed {
 public:
  explicit Placed(const T& value) : root_(memory_.allocate(type_.size, type_.align)) {
    if (root_ == nullptr || !msg::copy_value(type_, &value, root_, memory_).complete) throw std::runtime_error("no memory for the message");
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  /// A window keeps its addresses as long as somebody has a block of it.
  ~Placed() {
    msg::free_storage(type_, root_, memory_);
    memory_.free(root_, type_.align);
  }

  const T& value() const { return *static_cast<const T*>(root_); }
  /// Of the object and all storage that it needs.
  std::uint64_t bytes() const { return msg::size_of_value(type_, root_); }

  /// What publish() does with it.
  void audit() {
    const msg::Audit audit = msg::audit(type_, root_, memory_, memory_);
    if (!audit.complete || audit.copied > 0) throw std::runtime_error("the message does not lie in the window");
  }

  /// What a subscriber does before it looks at it.
  void validate() const {
    if (const auto complaint = msg::complaint_about(type_, root_, memory_)) throw std::runtime_error(*complaint);
  }

 private:
  const msg::Type& type_ = *msg::message_of<T>().type;
  WindowMemory memory_;
  void* const root_;
};

}  // namespace sinew::bench
