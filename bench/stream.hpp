// Messages over stream sockets, as most middleware carries them: a length, then the bytes, into a vector of the receiver's.
#pragma once

#include <memory>

#include "cell.hpp"
#include "transport.hpp"

namespace sinew::bench {

enum class Stream { tcp, unix_socket };

/// One connection per publisher and subscriber: loopback TCP with TCP_NODELAY, or a unix stream socket. The receiver's vector is reused, which is
/// the best case. Every delivery copies the payload twice, into the kernel and out of it.
std::unique_ptr<Transport> make_stream(const Cell& cell, Stream kind);

}  // namespace sinew::bench
