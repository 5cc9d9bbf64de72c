#include "api/type_storage.hpp"

#include <mutex>
#include <new>
#include <optional>

#include "msg/cdr/cdr.hpp"
#include "shm/layout.hpp"

namespace sinew::detail {
namespace {

/// A publisher's window, from which nothing is taken.
class FreeingMemory final : public msg::Memory {
 public:
  explicit FreeingMemory(shm::Window::Freeing& blocks) noexcept : blocks_(blocks) {}
  void* allocate(std::size_t, std::size_t) noexcept override { return nullptr; }
  void free(void* block, std::size_t) noexcept override { blocks_.free(block); }

 private:
  shm::Window::Freeing& blocks_;
};

class TypeStorage final : public session::FrameStorage {
 public:
  explicit TypeStorage(const msg::Type& type) noexcept : type_(type) {}
  session::NewFrame copy_in(const void* object, shm::Window& window) const noexcept override {
    if (!type_.in_place) {
      const auto size = measure(object);
      if (!size) return {};
      const session::NewFrame frame = session::stream_frame(window, size->stream);
      if (frame.is_in_window()) codec_->write(object, session::stream_of(frame));
      return frame;
    }
    void* const root = window.allocate(type_.size, type_.align);
    if (!root) return {};
    WindowMemory memory(window);
    const msg::Copied copied = msg::copy_value(type_, object, root, memory);
    if (copied.complete) return {.root = root, .size = copied.bytes};
    window.free(root);
    return {};
  }
  void release(const void* root, shm::Window::Freeing& blocks) const noexcept override {
    FreeingMemory memory(blocks);
    msg::free_storage(type_, root, memory);
    blocks.free(const_cast<void*>(root));  // the block was ours before it was published
  }
  void* write_pieces(const void* root, shm::Window& window, bool make_room) const noexcept override {
    const auto size = measure(root);
    if (!size) return nullptr;
    const std::size_t control = session::stream_behind_table(size->pieces);
    const std::size_t bytes = control + size->control;
    void* const block =
        make_room ? window.allocate(bytes, alignof(shm::PieceTable)) : window.try_to_allocate(bytes, alignof(shm::PieceTable));
    if (!block) return nullptr;
    auto* const table = ::new (block) shm::PieceTable{size->pieces};
    static_assert(sizeof(msg::cdr::Piece) == sizeof(shm::PieceEntry));  // each is replaced where it stands
    auto* const pieces = reinterpret_cast<msg::cdr::Piece*>(table + 1);
    codec_->write_pieces(root, static_cast<std::byte*>(block) + control, pieces);
    for (std::uint64_t i = 0; i < size->pieces; ++i) {
      const msg::cdr::Piece piece = pieces[i];
      ::new (pieces + i) shm::PieceEntry{reinterpret_cast<std::uint64_t>(piece.data()), piece.size()};
    }
    return block;
  }
  std::uint64_t stream_size(const void* root) const noexcept override {
    const auto size = measure(root);
    return size ? size->stream : 0;
  }
  void write_stream(const void* root, std::byte* into) const noexcept override { codec_->write(root, into); }
  void list(const void* root, std::vector<const void*>& into) const override {
    msg::list_storage(type_, root, into);
    into.push_back(root);
  }

 private:
  std::optional<msg::cdr::Codec::Size> measure(const void* root) const noexcept {
    try {
      std::call_once(once_, [this] { codec_.emplace(type_); });
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
    return codec_->measure(root);
  }

  const msg::Type& type_;
  mutable std::once_flag once_;
  mutable std::optional<const msg::cdr::Codec> codec_;  // made for the first reader that needs it
};

class TypeObjects final : public session::Objects {
 public:
  TypeObjects(const msg::Type& type, const ObjectType& objects) noexcept : type_(type), objects_(objects) {}
  void* copy(const void* object) const override { return objects_.copy(object); }
  void* take_over(void* object) const override { return objects_.take_over(object); }
  void dispose(void* object) const noexcept override { objects_.dispose(object); }
  std::size_t size() const noexcept override { return type_.size; }
  std::size_t alignment() const noexcept override { return type_.align; }
  void copy_to(void* at, const void* object) const override { objects_.copy_to(at, object); }
  void move_to(void* at, void* object) const override { objects_.move_to(at, object); }
  void destroy(void* at) const noexcept override { type_.destroy(at); }
  std::uint64_t bytes(const void* object) const noexcept override { return msg::size_of_value(type_, object); }

 private:
  const msg::Type& type_;
  const ObjectType& objects_;
};

}  // namespace

std::shared_ptr<const session::FrameStorage> storage_of(const msg::Type& type) {
  return std::make_shared<TypeStorage>(type);
}

std::shared_ptr<const session::Objects> objects_of(const msg::Type& type, const ObjectType& objects) {
  return std::make_shared<TypeObjects>(type, objects);
}

}  // namespace sinew::detail
