// The service of the system tests, called and provided in C.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/c/sinew.h"
#include "bindings/c/tests/in_c.hpp"
#include "msg/cdr/cdr.hpp"
#include "msg/heap_memory.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {

inline constexpr std::size_t ten_megabytes = 10'000'000;

template <class T>
Stream stream_of(const T& value) {
  const msg::cdr::Codec codec(*msg::message_of<T>().type);
  Stream stream(codec.measure(&value)->stream);
  codec.write(&value, reinterpret_cast<std::byte*>(stream.data()));
  return stream;
}

template <class T>
T value_in(const Stream& stream) {
  const msg::cdr::Reader reader(*msg::message_of<T>().type);
  const auto bytes = std::as_bytes(std::span(stream));
  alignas(T) std::byte room[sizeof(T)];
  msg::HeapMemory heap;
  const std::string complaint = reader.read({&bytes, 1}, room, heap, reader.usual_budget(stream.size())).complaint;
  require(complaint.empty(), complaint);
  T* const made = std::launder(reinterpret_cast<T*>(room));
  T value = std::move(*made);
  std::destroy_at(made);
  return value;
}

inline const char* request_type() {
  return msg::message_of<Work::Request>().signature;
}
inline const char* response_type() {
  return msg::message_of<Work::Response>().signature;
}

inline std::vector<sinew_extent> extents_of(const Stream& stream) {
  const std::size_t some = stream.size() / 3;
  return {{stream.data(), some}, {nullptr, 0}, {stream.data() + some, stream.size() - some}};
}

/// A client of "work".
class ClientInC {
 public:
  explicit ClientInC(sinew_node* node) {
    require(sinew_client_create(node, "work", request_type(), response_type(), nullptr, &client_) == SINEW_OK, sinew_last_error());
  }
  ~ClientInC() { destroy(); }
  ClientInC(const ClientInC&) = delete;
  ClientInC& operator=(const ClientInC&) = delete;

  void destroy() { sinew_client_destroy(std::exchange(client_, nullptr)); }
  sinew_client* get() const { return client_; }

  /// Gives the stream; what comes back is left in `frame`, to be released by the next call or the destructor of what is given here.
  sinew_status call(const Stream& request, Stream* response = nullptr, std::int64_t timeout_ns = -1) const {
    const auto extents = extents_of(request);
    sinew_frame* frame = nullptr;
    const sinew_status status = sinew_client_call(client_, extents.data(), extents.size(), timeout_ns, &frame);
    require((status == SINEW_OK) == (frame != nullptr), "a response with an error, or neither");
    if (frame && response) *response = joined(frame);
    sinew_frame_release(frame);
    return status;
  }
  /// "": it was answered, rightly.
  std::string add(std::uint64_t number, std::uint64_t size = 0) const {
    Stream response;
    if (const sinew_status status = call(stream_of(addition(number, 1, size)), &response); status != SINEW_OK) {
      return std::string(sinew_status_name(status)) + ": " + sinew_last_error();
    }
    return is_right(value_in<Work::Response>(response), number, 1, size) ? "" : "wrong";
  }
  sinew_client_statistics statistics() const {
    sinew_client_statistics told{};
    require(sinew_client_get_statistics(client_, &told) == SINEW_OK, sinew_last_error());
    return told;
  }
  void await_providers(std::uint64_t count) const {
    require(eventually([&] { return statistics().providers == count; }), "the providers do not come, or do not go");
  }

 private:
  sinew_client* client_ = nullptr;
};

/// A call that does not wait, and what it came to. Outlives the call.
struct PendingInC {
  explicit PendingInC(Stream stream) : request(std::move(stream)) {}
  void start(const ClientInC& client, std::int64_t timeout_ns = -1) {
    const auto extents = extents_of(request);
    const auto on_response = [](void* context, sinew_status ended, sinew_frame* frame, const char* text) {
      auto& self = *static_cast<PendingInC*>(context);
      if (frame) self.response = joined(frame);
      sinew_frame_release(frame);
      self.status = ended;
      self.error = text;
      ++self.called;
    };
    require(sinew_client_call_async(client.get(), extents.data(), extents.size(), timeout_ns, on_response, this, &number) == SINEW_OK,
            sinew_last_error());
  }
  bool ends() const {
    return eventually([&] { return called > 0; });
  }

  const Stream request;
  std::uint64_t number = 0;
  Stream response;
  sinew_status status = -1;
  std::string error;
  std::atomic<int> called{0};
};

/// A provider of "work". The handler ends the call; without one it does what the request says.
class ProviderInC {
 public:
  using Handler = std::function<void(sinew_call*)>;
  explicit ProviderInC(sinew_node* node, Handler handler = {}, bool at_most_once = false)
      : handler_(handler ? std::move(handler) : [](sinew_call* call) { answer_rightly(call); }) {
    auto options = sized<sinew_provider_options>();
    options.on_request = [](void* context, sinew_call* call) {
      try {
        static_cast<ProviderInC*>(context)->handler_(call);
      } catch (const std::bad_alloc&) {  // a callback must not throw
      }
    };
    options.context = this;
    options.release = [](void* context) { ++static_cast<ProviderInC*>(context)->released; };
    options.at_most_once = at_most_once;
    require(sinew_provider_create(node, "work", request_type(), response_type(), &options, &provider_) == SINEW_OK, sinew_last_error());
  }
  ~ProviderInC() {
    destroy();
    eventually([&] { return released == 1; });
  }
  ProviderInC(const ProviderInC&) = delete;
  ProviderInC& operator=(const ProviderInC&) = delete;

  void destroy() { sinew_provider_destroy(std::exchange(provider_, nullptr)); }
  sinew_provider_statistics statistics() const {
    sinew_provider_statistics told{};
    require(sinew_provider_get_statistics(provider_, &told) == SINEW_OK, sinew_last_error());
    return told;
  }

  static Work::Request request_of(const sinew_call* call) { return value_in<Work::Request>(joined(sinew_call_request(call))); }
  static sinew_status answer(sinew_call* call, const Stream& response) {
    const auto extents = extents_of(response);
    return sinew_call_answer(call, extents.data(), extents.size());
  }
  /// Releases the call where memory is short.
  static void answer_rightly(sinew_call* call) {
    std::unique_ptr<sinew_call, decltype(&sinew_call_release)> owned(call, sinew_call_release);
    const Work::Request request = request_of(call);
    if (request.what.starts_with("throw ")) {
      sinew_call_fail(owned.release(), request.what.c_str() + 6);
      return;
    }
    const Stream response = stream_of(result_of(request, "in_c"));
    const auto extents = extents_of(response);
    sinew_call_answer(owned.release(), extents.data(), extents.size());
  }

  std::atomic<int> released{0};

 private:
  const Handler handler_;
  sinew_provider* provider_ = nullptr;
};

/// Calls that a handler leaves to others.
class Kept {
 public:
  ~Kept() {
    for (sinew_call* const call : calls_) sinew_call_release(call);
  }
  void keep(sinew_call* call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return calls_.size();
  }
  std::vector<sinew_call*> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<sinew_call*> calls_;
};

}  // namespace sinew::system
