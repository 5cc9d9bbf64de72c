#include "api/service_stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "api/raw_type.hpp"
#include "msg/cdr/bytes.hpp"
#include "msg/cdr/source.hpp"
#include "msg/signature.hpp"
#include "session/publisher/new_frame.hpp"
#include "shm/scope.hpp"
#include "sinew/service_error.hpp"

namespace sinew::detail {
namespace {

using msg::cdr::Source;

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::size_t length_size = sizeof(std::uint32_t);
constexpr std::uint64_t most_padding = 3;  // C1.4

constexpr bool is_big_here = std::endian::native == std::endian::big;
constexpr std::array most_significant_first{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}};
constexpr std::array least_significant_first{std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}};

std::span<const std::byte> encapsulation_of(bool is_swapped) noexcept {
  return is_swapped == is_big_here ? least_significant_first : most_significant_first;
}

/// Nothing: it begins as no stream of CDR.
std::optional<bool> begin_stream(Source& source) {
  std::array<std::byte, session::encapsulation> begin{};
  const bool is_known = source.take(begin.data(), begin.size()) && begin[0] == std::byte{0} && begin[1] <= std::byte{1} &&
                        begin[2] == std::byte{0} && begin[3] == std::byte{0};
  if (!is_known) return std::nullopt;
  source.begin_body();
  return (begin[1] == std::byte{0}) != is_big_here;
}

bool take_word(Source& source, bool is_swapped, std::uint64_t& into) {
  if (!source.take(&into, word)) return false;
  if (is_swapped) into = __builtin_bswap64(into);
  return true;
}

/// What is wrong with it, or null. `into`: none: it is passed over.
const char* take_text(Source& source, bool is_swapped, std::string* into) {
  std::uint32_t size = 0;
  if (!source.align(length_size) || !source.take(&size, length_size)) return "it ends before its error";
  if (is_swapped) size = __builtin_bswap32(size);
  if (size > source.left()) return "its error goes on behind its end";
  if (!into || size == 0) return source.skip(size), nullptr;
  into->resize(size - 1);
  source.take(into->data(), size - 1);
  source.skip(1);
  return nullptr;
}

/// What lies from `begin` to `end` of the extents, joined.
void append_part(Extents extents, std::uint64_t begin, std::uint64_t end, std::vector<std::span<const std::byte>>& into) {
  for (const auto& extent : extents) {
    if (begin < extent.size() && begin < end) into.push_back(extent.subspan(begin, std::min<std::uint64_t>(extent.size(), end) - begin));
    begin -= std::min<std::uint64_t>(begin, extent.size());
    end -= std::min<std::uint64_t>(end, extent.size());
  }
}

/// "sinew/ServiceRequest<robot/Sum>{id:uint64;body:robot/Sum{...};}"
std::string signature_of(ServiceStream::Part part, const std::string& name, const std::string& signature) {
  return part == ServiceStream::Part::request
             ? "sinew/ServiceRequest<" + name + ">{id:uint64;body:" + signature + ";}"
             : "sinew/ServiceResponse<" + name + ">{id:uint64;status:uint64;body:" + signature + ";error:string;}";
}

class Writer {
 public:
  Writer(std::byte* into, bool is_swapped) noexcept : begin_(into), at_(into), is_swapped_(is_swapped) {}

  void bytes(std::span<const std::byte> from) noexcept {
    if (!from.empty()) std::memcpy(at_, from.data(), from.size());
    at_ += from.size();
  }
  void zeros(std::uint64_t count) noexcept {
    std::memset(at_, 0, count);
    at_ += count;
  }
  template <class Number>
  void number(Number value) noexcept {
    zeros(msg::cdr::padding(position(), sizeof value));
    std::memcpy(at_, &value, sizeof value);
    if (is_swapped_) msg::cdr::copy_swapped(at_, at_, sizeof value, sizeof value);
    at_ += sizeof value;
  }

 private:
  std::uint64_t position() const noexcept { return static_cast<std::uint64_t>(at_ - begin_) - session::encapsulation; }

  std::byte* const begin_;
  std::byte* at_;
  const bool is_swapped_;
};

const StreamToSend& message_of(const void* object) noexcept {
  return *static_cast<const StreamToSend*>(object);
}

}  // namespace

ServiceStream::ServiceStream(const std::string& service, Part part, const std::string& signature)
    : is_response_(part == Part::response),
      type_(description_of(service, signature_of(part, description_of(service, signature).name, signature))),
      name_(description_of(service, signature).name),
      body_(*msg::read_signature(signature)) {}

// --- sending -----------------------------------------------------------------------------------------------------------------------------

StreamToSend ServiceStream::to_send(std::uint64_t id, Extents stream) const {
  const auto refuse = [this](const std::string& why) {
    return ServiceError(ServiceError::Kind::invalid, "it is no stream of the type '" + name_ + "': " + why);
  };
  Source source(stream);
  const std::optional<bool> is_swapped = begin_stream(source);
  if (!is_swapped) throw refuse("it does not begin with the bytes 00 01 00 00, or 00 00 00 00");
  if (const char* const complaint = body_.skip(source, *is_swapped)) throw refuse(complaint);
  if (source.left() > most_padding) throw refuse("it goes on behind the value");
  StreamToSend message{.id = id, .size = source.position(), .is_swapped = *is_swapped};
  message.body.reserve(stream.size());
  append_part(stream, session::encapsulation, session::encapsulation + message.size, message.body);
  return message;
}

std::uint64_t ServiceStream::size_of(std::uint64_t body, std::size_t error) const noexcept {
  if (!is_response_) return session::encapsulation + word + body;
  return session::encapsulation + 2 * word + body + msg::cdr::padding(body, length_size) + length_size + error + 1;
}

std::uint64_t ServiceStream::stream_size(const void* object) const noexcept {
  const StreamToSend& message = message_of(object);
  return size_of(message.status == 0 ? message.size : body_.least(), message.error.size());
}

void ServiceStream::write_stream(const void* object, std::byte* into) const noexcept {
  const StreamToSend& message = message_of(object);
  Writer writer(into, message.is_swapped);
  writer.bytes(encapsulation_of(message.is_swapped));
  writer.number(message.id);
  if (is_response_) writer.number(message.status);
  if (message.status == 0) {
    for (const auto& extent : message.body) writer.bytes(extent);
  } else {
    writer.zeros(body_.least());
  }
  if (!is_response_) return;
  writer.number(static_cast<std::uint32_t>(message.error.size() + 1));
  writer.bytes(std::as_bytes(std::span(message.error)));
  writer.zeros(1);
}

session::NewFrame ServiceStream::copy_in(const void* object, shm::Window& window) const noexcept {
  const session::NewFrame frame = session::stream_frame(window, stream_size(object));
  if (frame.is_in_window()) write_stream(object, session::stream_of(frame));
  return frame;
}

// --- receiving ---------------------------------------------------------------------------------------------------------------------------

std::shared_ptr<const void> ServiceStream::open(const std::shared_ptr<RawFrame>& frame, std::string_view& complaint) const {
  const auto refuse = [&](const char* why) {
    complaint = why;
    return nullptr;
  };
  const auto message = std::make_shared<ReceivedStream>();
  Source source(frame->extents);
  const std::optional<bool> is_swapped = begin_stream(source);
  if (!is_swapped) return refuse("it does not begin as a stream of CDR");
  if (!take_word(source, *is_swapped, message->id) || (is_response_ && !take_word(source, *is_swapped, message->status))) {
    return refuse("it ends before its body");
  }
  const std::uint64_t begin = source.position();
  if (const char* const why = body_.skip(source, *is_swapped)) return refuse(why);
  const std::uint64_t end = source.position();
  if (is_response_) {
    if (const char* const why = take_text(source, *is_swapped, message->status == 0 ? nullptr : &message->error)) return refuse(why);
  }
  if (source.left() > most_padding) return refuse("it goes on behind the value");
  std::vector<std::span<const std::byte>> body;
  body.reserve(frame->extents.size() + 1);
  body.push_back(encapsulation_of(*is_swapped));
  append_part(frame->extents, session::encapsulation + begin, session::encapsulation + end, body);
  frame->extents = std::move(body);
  message->body = frame;
  return message;
}

}  // namespace sinew::detail
