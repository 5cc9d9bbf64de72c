// The systems of this program: sinew, Fast CDR, and those formats of others that were found when it was configured.
#pragma once

#include "serialization/fast_cdr.hpp"
#include "serialization/sinew.hpp"
#ifdef SINEW_BENCH_CAPNPROTO
#include "serialization/capnproto.hpp"
#endif
#ifdef SINEW_BENCH_FLATBUFFERS
#include "serialization/flatbuffers.hpp"
#endif
#ifdef SINEW_BENCH_PROTOBUF
#include "serialization/protobuf.hpp"
#endif

namespace sinew::bench {

/// Whether messages can be looked at without decoding them.
template <class System>
concept Opens = requires(const System& system) { system.open(); };

/// Calls `use` with each system, of messages of type T, as its template argument.
template <class T, class Use>
void each_system(Use use) {
  use.template operator()<Sinew<T>>();
  use.template operator()<FastCdr<T>>();
#ifdef SINEW_BENCH_CAPNPROTO
  use.template operator()<CapnProto<T>>();
#endif
#ifdef SINEW_BENCH_FLATBUFFERS
  use.template operator()<FlatBuffers<T>>();
#endif
#ifdef SINEW_BENCH_PROTOBUF
  use.template operator()<Protobuf<T>>();
#endif
}

}  // namespace sinew::bench
