#include "session/publisher/ring_memory.hpp"

#include <memory>
#include <new>

#include "os/memory.hpp"
#include "shm/ring.hpp"

namespace sinew::session {

RingMemory::RingMemory(const char* name)
    : file_(os::create_memfd(name, ring_file_size())),
      mapping_(std::make_shared<const os::Mapping>(os::Mapping::map(file_, ring_file_size(), os::Access::read_write))) {
  os::seal_for_readers(file_);
  shm::initialise(layout());
}

void RingMemory::offer() const {
  offer_mapping(file_, mapping_);
}

shm::RingLayout& RingMemory::layout() const noexcept {
  return *std::launder(reinterpret_cast<shm::RingLayout*>(mapping_->data()));
}

}  // namespace sinew::session
