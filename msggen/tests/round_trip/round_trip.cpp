// Reads streams of CDR into the structs of generated headers, and writes them again: round_trip STREAMS RESULTS
// STREAMS has, for each stream, the name of its type and the stream; RESULTS gets as many streams, or an empty one for what was complained about. Each is its size, as four bytes,
// and its bytes. Without arguments: prints the signatures of all types.
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "listed.hpp"
#include "msg/cdr/cdr.hpp"
#include "msg/heap_memory.hpp"

namespace sinew::round_trip {
namespace {

using Bytes = std::vector<std::byte>;

/// What is done with messages of one type.
class RoundTrip {
 public:
  explicit RoundTrip(const msg::Message& message) : type_(*message.type), codec_(type_), reader_(type_) {}

  /// The stream that is written of what was read, or a complaint.
  Bytes operator()(std::span<const std::byte> stream, std::string& complaint) {
    msg::HeapMemory memory;
    Bytes value(type_.size + type_.align);
    void* at = value.data();
    std::size_t room = value.size();
    std::align(type_.align, type_.size, at, room);
    const std::array whole{stream};
    complaint = reader_.read(whole, at, memory, reader_.usual_budget(stream.size())).complaint;
    if (!complaint.empty()) return {};
    Bytes written = write(at, complaint);
    type_.destroy(at);
    return written;
  }

 private:
  Bytes write(const void* value, std::string& complaint) const {
    const msg::cdr::Codec::Size size = codec_.measure(value).value();
    Bytes stream(size.stream), control(size.control), joined;
    codec_.write(value, stream.data());
    std::vector<msg::cdr::Piece> pieces(size.pieces);
    codec_.write_pieces(value, control.data(), pieces.data());
    for (const msg::cdr::Piece& piece : pieces) joined.insert(joined.end(), piece.begin(), piece.end());
    if (joined != stream) complaint = "its pieces are not the stream";
    return stream;
  }

  const msg::Type& type_;
  const msg::cdr::Codec codec_;
  const msg::cdr::Reader reader_;
};

Bytes content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  Bytes content(bytes.size());
  if (!bytes.empty()) std::memcpy(content.data(), bytes.data(), bytes.size());
  return content;
}

/// Takes one size and as many bytes from the begin of what is left.
std::span<const std::byte> take(std::span<const std::byte>& left) {
  std::uint32_t size = 0;
  std::memcpy(&size, left.data(), sizeof size);
  const auto taken = left.subspan(sizeof size, size);
  left = left.subspan(sizeof size + size);
  return taken;
}

int run(const char* streams, const char* results) {
  const Bytes content = content_of(streams);
  std::ofstream file(results, std::ios::binary);
  std::map<std::string, RoundTrip> made;
  int status = 0;
  for (std::span<const std::byte> left = content; !left.empty();) {
    const auto name_bytes = take(left);
    const std::string name(reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size());
    const auto stream = take(left);
    const auto found = messages().find(name);
    if (found == messages().end()) {
      std::fprintf(stderr, "%s is not listed\n", name.c_str());
      return 1;
    }
    std::string complaint;
    const Bytes result = made.try_emplace(name, *found->second).first->second(stream, complaint);
    if (!complaint.empty()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), complaint.c_str());
      status = 1;
    }
    const auto size = static_cast<std::uint32_t>(result.size());
    file.write(reinterpret_cast<const char*>(&size), sizeof size);
    file.write(reinterpret_cast<const char*>(result.data()), size);
  }
  return file.flush() ? status : 1;
}

}  // namespace
}  // namespace sinew::round_trip

int main(int count, char** words) {
  using namespace sinew::round_trip;
  if (count == 3) return run(words[1], words[2]);
  for (const auto& [name, message] : messages()) std::printf("%s %s\n", name.c_str(), message->signature);
  return 0;
}
