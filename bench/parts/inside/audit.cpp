#include <memory>
#include <string>

#include "msg/walk.hpp"
#include "parts/inside/coded.hpp"
#include "parts/inside/inside.hpp"
#include "parts/inside/memory.hpp"
#include "parts/inside/messages.hpp"
#include "parts/timing.hpp"
#include "sinew/msg/reflect.hpp"

namespace sinew::bench {

namespace {

// A message in a window, as a publisher has it before publish(): the audit then finds nothing to copy.
template <class T>
class Placed {
 public:
  explicit Placed(const T& value) : root_(memory_.allocate(type_.size, type_.align)) {
    if (root_ == nullptr || !msg::copy_value(type_, &value, root_, memory_).complete) throw std::runtime_error("no memory for the message");
  }

  // What publish() does with it and what a subscriber does then. Both ask the window, in two loads; a subscriber really has a sorted table of the few chunks.
  void check() {
    look_at(root_);
    const msg::Audit audit = msg::audit(type_, root_, memory_, memory_);
    if (!audit.complete || audit.copied > 0) throw std::runtime_error("the message does not lie in the window");
    look_at(root_);
    if (const auto complaint = msg::complaint_about(type_, root_, memory_)) throw std::runtime_error(*complaint);
  }

 private:
  const msg::Type& type_ = *msg::message_of<T>().type;
  WindowMemory memory_;
  void* const root_;
};

}  // namespace

Outcome measure_audit_image(std::uint64_t count) {
  Placed<Image> image(make_image());
  return alone(count, 1000, [&] { image.check(); });
}

Outcome measure_audit_texts(std::uint64_t count) {
  const Texts message = make_texts();
  Placed<Texts> texts(message);
  std::vector<char> stream(1 << 20);
  const auto floor = [&] {
    write_fast(message, stream);
    Texts read;
    read_fast(stream, read);
    look_at(&read);
  };
  return side_by_side(count, 1, [&] { texts.check(); }, floor);
}

Outcome measure_audit_texts_codec(std::uint64_t count) {
  Coded<Texts> stream(make_texts());
  Placed<Texts> texts(stream.message);
  const auto floor = [&] {
    stream.write();
    look_at(stream.bytes.data());
    stream.read_and_destroy(look_at);
  };
  return side_by_side(count, 1, [&] { texts.check(); }, floor);
}

}  // namespace sinew::bench
