#include "work.hpp"

#include <cstring>

#include "driver.hpp"

namespace sinew::bench::peers {

void Work::fill(const Header& header, std::vector<std::uint8_t>& payload) {
  payload.resize(header.size);
  fill(header, std::span(payload));
}

namespace {

class Plain final : public Work {
 public:
  explicit Plain(const Run& run) : run_(run) {}

  std::size_t prepare(std::uint64_t number) override { return run_.size_of(number); }
  void fill(const Header& header, std::span<std::uint8_t> payload) override { std::memset(payload.data(), header.value(), payload.size()); }
  void fill(const Header& header, std::vector<std::uint8_t>& payload) override {
    payload.assign(header.size, header.value());
  }  // one pass, not two
  bool use(const Header& header, std::span<const std::uint8_t> payload) override {
    const std::uint8_t value = header.value();
    return payload.size() == run_.size_of(header.number) && payload.front() == value && payload[payload.size() / 2] == value &&
           payload.back() == value && (!run_.read_all || std::memchr(payload.data(), Header::absent, payload.size()) == nullptr);
  }

 private:
  const Run& run_;
};

}  // namespace

std::unique_ptr<Work> plain_work(const Run& run) {
  return std::make_unique<Plain>(run);
}

}  // namespace sinew::bench::peers
