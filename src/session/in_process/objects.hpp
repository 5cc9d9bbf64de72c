// What the session layer knows of the message type inside its own process: how objects are copied, moved and let go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sinew::session {

/// Made by the owner of the message type. Thread-safe.
class Objects {
 public:
  /// An object of its own, as `new T(object)` makes it. Throws std::bad_alloc.
  virtual void* copy(const void* object) const = 0;
  /// The same, with the storage of `object`, which stays to be destroyed.
  virtual void* take_over(void* object) const = 0;
  /// Lets go of what copy(), take_over() or a `new T` of the user's made.
  virtual void dispose(void* object) const noexcept = 0;

  // For objects in memory of size() bytes at alignment().
  virtual std::size_t size() const noexcept = 0;
  virtual std::size_t alignment() const noexcept = 0;
  virtual void copy_to(void* at, const void* object) const = 0;
  virtual void move_to(void* at, void* object) const = 0;
  virtual void destroy(void* at) const noexcept = 0;

  /// Bytes of the object and of its storage.
  virtual std::uint64_t bytes(const void* object) const noexcept = 0;

 protected:
  ~Objects() = default;
};

/// One owner of an object that Objects::dispose() lets go.
struct Dispose {
  const Objects* objects = nullptr;
  void operator()(void* object) const noexcept { objects->dispose(object); }
};
using OwnedObject = std::unique_ptr<void, Dispose>;

/// Shares an object from now on. Throws std::bad_alloc; then the object is no more.
std::shared_ptr<const void> shared_of(OwnedObject object, const std::shared_ptr<const Objects>& objects);

/// A message as it was given to publish(). One of the three.
struct GivenMessage {
  const void* borrowed = nullptr;      ///< stays the caller's
  OwnedObject owned;                   ///< for whoever wants to own it
  std::shared_ptr<const void> shared;  ///< for all who do not
  std::uint64_t in_window = 0;         ///< of `shared`: its bytes, when Publisher::share() made it

  const void* look() const noexcept { return shared ? shared.get() : owned ? owned.get() : borrowed; }
};

}  // namespace sinew::session
