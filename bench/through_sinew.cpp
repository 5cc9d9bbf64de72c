#include "through_sinew.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <sinew/sinew.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "clock.hpp"

namespace sinew::bench {

struct Payload {
  std::int64_t stamp;
  std::vector<std::uint8_t> data;
};

namespace {

constexpr const char* topic = "bench";
constexpr std::int64_t patience_ns = 30'000'000'000;

Qos qos_of(const Cell& cell) {
  return cell.rate > 0 ? Qos{}.keep_last(8) : Qos{}.keep_all().reliable();
}

ThreadOptions thread_of(const Cell& cell) {
  return {.scheduling = cell.fifo > 0 ? Scheduling::fifo : Scheduling::other,
          .priority = cell.fifo,
          .spin = std::chrono::hours(cell.spin ? 1 : 0)};
}

// `connected` tells how many ends of the other side there are now.
template <typename Connected>
void wait_for(std::uint64_t wanted, Connected connected) {
  for (const std::int64_t until = now_ns() + patience_ns; connected() < wanted;) {
    if (now_ns() > until) throw std::runtime_error("sinew did not connect the publishers and subscribers of this cell");
    usleep(1000);
  }
}

class SinewSource : public Source {
 public:
  SinewSource(const Cell& cell, const std::string& domain, unsigned index)
      : size_(cell.size),
        node_(Node::create("bench_publisher_" + std::to_string(index), {.domain = domain})),
        publisher_(node_->create_publisher<Payload>(topic, qos_of(cell), {.max_blocking = std::chrono::seconds(10)})) {
    wait_for(cell.subscribers, [this] { return publisher_->statistics().subscribers; });
  }
  std::uint64_t bytes_copied() const override { return publisher_->statistics().bytes_copied; }

 protected:
  const std::size_t size_;
  const std::shared_ptr<Node> node_;
  const std::shared_ptr<Publisher<Payload>> publisher_;
};

class LoanSource final : public SinewSource {
 public:
  using SinewSource::SinewSource;

  void fill(std::uint8_t value) override {
    loan_.emplace(publisher_->loan());
    loan_->build([&](Payload& payload) { payload.data.assign(size_, value); });
  }
  void send(std::int64_t stamp) override {
    (**loan_).stamp = stamp;
    publisher_->publish(std::move(*loan_));
  }

 private:
  std::optional<Loan<Payload>> loan_;
};

class CopySource final : public SinewSource {
 public:
  CopySource(const Cell& cell, const std::string& domain, unsigned index)
      : SinewSource(cell, domain, index), payload_{0, std::vector<std::uint8_t>(size_)} {}

  void fill(std::uint8_t value) override { std::memset(payload_.data.data(), value, payload_.data.size()); }
  void send(std::int64_t stamp) override {
    payload_.stamp = stamp;
    publisher_->publish(payload_);
  }

 private:
  Payload payload_;
};

class SinewSink final : public Sink {
 public:
  SinewSink(const Cell& cell, const std::string& domain, unsigned index, Arrivals& arrivals)
      : node_(Node::create("bench_subscriber_" + std::to_string(index),
                           {.domain = domain, .executor = Executor::create({.threads = {{0, thread_of(cell)}}})})),
        subscriber_(node_->create_subscriber<Payload>(
            topic, [&arrivals](const Payload& payload) { arrivals.add(payload.stamp, payload.data); }, qos_of(cell))) {
    wait_for(cell.publishers, [this] { return subscriber_->statistics().publishers; });
  }

  // The node's own thread receives; this one sleeps, so that it does not disturb.
  void receive(int stop) override {
    char none;
    while (read(stop, &none, 1) < 0 && errno == EINTR) {
    }
  }
  std::uint64_t bytes_copied() const override { return subscriber_->statistics().bytes_copied; }

 private:
  const std::shared_ptr<Node> node_;
  const std::shared_ptr<Subscriber<Payload>> subscriber_;
};

class ThroughSinew final : public Transport {
 public:
  ThroughSinew(Cell cell, Publishing publishing, std::string domain)
      : cell_(std::move(cell)), publishing_(publishing), domain_(std::move(domain)) {}

  std::unique_ptr<Source> open_source(unsigned publisher) override {
    if (publishing_ == Publishing::loan) return std::make_unique<LoanSource>(cell_, domain_, publisher);
    return std::make_unique<CopySource>(cell_, domain_, publisher);
  }
  std::unique_ptr<Sink> open_sink(unsigned subscriber, Arrivals& arrivals) override {
    return std::make_unique<SinewSink>(cell_, domain_, subscriber, arrivals);
  }

 private:
  const Cell cell_;
  const Publishing publishing_;
  const std::string domain_;
};

}  // namespace

std::unique_ptr<Transport> make_through_sinew(const Cell& cell, Publishing publishing, const std::string& domain) {
  return std::make_unique<ThroughSinew>(cell, publishing, domain);
}

}  // namespace sinew::bench
