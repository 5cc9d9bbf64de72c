// Messages of services of which there are no objects but CDR streams: what stands in a stream before and behind the body (spec/services.md) comes and goes here, so that users have streams of their own type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/raw_subscriber.hpp"
#include "api/subscriber_impl.hpp"
#include "msg/cdr/outline.hpp"
#include "session/publisher/publisher.hpp"
#include "wire/messages.hpp"

namespace sinew::detail {

using Extents = std::span<const std::span<const std::byte>>;

/// One that is to be sent. Begins as all messages of services do.
struct StreamToSend {
  std::uint64_t id = 0, status = 0;
  std::vector<std::span<const std::byte>> body{};  ///< where the user has it; empty, with another status than 0: the least one
  std::uint64_t size = 0;                          ///< of the body
  bool is_swapped = false;                         ///< the body's numbers have the byte order that this machine has not
  std::string error{};
};

/// One that was received. Likewise.
struct ReceivedStream {
  std::uint64_t id = 0, status = 0;
  std::shared_ptr<RawFrame> body;  ///< a stream of the user's type
  std::string error{};
};

/// The requests of a service, or its responses, by the signature of their body. Immutable, thread-safe.
class ServiceStream final : public session::FrameStorage, public StreamOpener {
 public:
  enum class Part { request, response };
  /// Throws Error(invalid_argument), which says what is wrong with the signature.
  ServiceStream(const std::string& service, Part part, const std::string& signature);

  const wire::TypeDescription& type() const noexcept { return type_; }
  /// Bytes of the least message.
  std::uint64_t least() const noexcept { return size_of(body_.least(), 0); }
  /// Of what a user gives, which has to stay as it is until it was sent. Throws ServiceError(invalid) when it is no stream of the user's type.
  StreamToSend to_send(std::uint64_t id, Extents stream) const;

  // --- StreamOpener: a ReceivedStream ---
  std::shared_ptr<const void> open(const std::shared_ptr<RawFrame>& frame, std::string_view& complaint) const override;

  // --- session::FrameStorage, of a StreamToSend; frames have no root ---
  session::NewFrame copy_in(const void* object, shm::Window& window) const noexcept override;
  std::uint64_t stream_size(const void* object) const noexcept override;
  void write_stream(const void* object, std::byte* into) const noexcept override;
  void release(const void*, shm::Window::Freeing&) const noexcept override {}
  void* write_pieces(const void*, shm::Window&, bool) const noexcept override { return nullptr; }
  void list(const void*, std::vector<const void*>&) const override {}

 private:
  std::uint64_t size_of(std::uint64_t body, std::size_t error) const noexcept;

  const bool is_response_;
  const wire::TypeDescription type_;
  const std::string name_;  // of the body's type
  const msg::cdr::Outline body_;
};

}  // namespace sinew::detail
