#include "parts/inside/coded.hpp"
#include "parts/inside/inside.hpp"
#include "parts/inside/messages.hpp"
#include "parts/inside/placed.hpp"
#include "parts/timing.hpp"

namespace sinew::bench {

namespace {

// What publish() does with it and what a subscriber does then.
template <class T>
void check(Placed<T>& message) {
  look_at(&message.value());
  message.audit();
  look_at(&message.value());
  message.validate();
}

}  // namespace

Outcome measure_audit_image(std::uint64_t count) {
  Placed<Image> image(make_image());
  return alone(count, 1000, [&] { check(image); });
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
  return side_by_side(count, 1, [&] { check(texts); }, floor);
}

Outcome measure_audit_texts_codec(std::uint64_t count) {
  Coded<Texts> stream(make_texts());
  Placed<Texts> texts(stream.message);
  const auto floor = [&] {
    stream.write();
    look_at(stream.bytes.data());
    stream.read_and_destroy(look_at);
  };
  return side_by_side(count, 1, [&] { check(texts); }, floor);
}

}  // namespace sinew::bench
