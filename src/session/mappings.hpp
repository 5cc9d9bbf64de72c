// What this process has mapped of shared files, one mapping per file.
//
// Two subscribers of one publisher, or a publisher and a subscriber in one process, meet the same file twice; a window's chunk can be mapped at its
// address only once. So every mapping is found by the file's identity and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "os/memory.hpp"

namespace sinew::session {

/// Bytes of a file with a ring.
std::size_t ring_file_size();

using SharedMapping = std::shared_ptr<const os::Mapping>;

/// Makes a mapping that this process made by itself findable for attach(). Forgotten when the mapping goes.
void offer_mapping(const os::Fd& fd, const SharedMapping& mapping);

/// The mapping of a file that a peer sent, read-only unless this process owns it. Checks the file first (os::complaint_about_peer_memfd). Waits for who is mapping the same file, or unmapping what attach_mapping() has returned.
/// `address`: the file must lie there (a chunk). `access`: not to write. Returns null and fills `why` when the file is not as announced (violation = true) or cannot be mapped here.
struct Attached {
  SharedMapping mapping;
  bool violation = false;
  std::string why;
};
Attached attach_mapping(const os::Fd& fd, std::size_t size, std::optional<std::uintptr_t> address = std::nullopt,
                        os::Access access = os::Access::read);

}  // namespace sinew::session
