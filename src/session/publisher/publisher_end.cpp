#include "session/publisher/publisher_end.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/point.hpp"
#include "base/printable.hpp"
#include "os/event.hpp"
#include "os/process.hpp"
#include "session/io/trust.hpp"
#include "session/publisher/publisher.hpp"
#include "sinew/error.hpp"

namespace sinew::session {

/// The second sign of a reader's death: its process is gone though something else (a raw clone) still holds its socket (S8).
struct PublisherEnd::ProcessWatch final : IoLoop::Handler {
  ProcessWatch(IoLoop& of_loop, os::Fd pidfd, std::weak_ptr<PublisherEnd> of_end)
      : loop(of_loop), fd(std::move(pidfd)), end(std::move(of_end)) {}
  void stop() noexcept { loop.unwatch(fd, watch); }
  void on_event(const os::Poller::Event&) override {
    if (const auto alive = end.lock()) alive->ended();
  }

  IoLoop& loop;
  os::Fd fd;
  std::weak_ptr<PublisherEnd> end;
  IoLoop::WatchId watch = 0;
};

PublisherEnd::PublisherEnd(std::weak_ptr<Publisher> publisher, IoLoop& loop, os::Fd socket, wire::ConnectPublisher introduction,
                           bool holds_back)
    : holds_back_(holds_back),
      publisher_(std::move(publisher)),
      loop_(loop),
      introduction_(std::move(introduction)),
      channel_(std::move(socket)) {}

PublisherEnd::~PublisherEnd() = default;

void PublisherEnd::start() {
  channel_.watch(loop_, weak_from_this());
}

void PublisherEnd::stop() {
  channel_.unwatch();
  std::shared_ptr<ProcessWatch> process;
  {
    const std::lock_guard lock(watching_);
    stopped_ = true;
    process.swap(process_);
  }
  if (process) process->stop();
}

void PublisherEnd::ended() {
  stop();
  if (const auto publisher = publisher_.lock()) publisher->forget(shared_from_this());
}

void PublisherEnd::on_event(const os::Poller::Event& event) {
  const auto self = shared_from_this();
  try {
    if (event.writable) channel_.flush();
    for (int turn = 0; turn < Channel::turns_per_event; ++turn) {
      auto input = channel_.receive();
      if (!input) break;
      if (stage_ != Stage::deaf) handle(*input);
    }
    if (channel_.state() == Channel::State::closed) ended();
  } catch (const std::exception& error) {
    fail(error);
  }
}

// Its claims still count, so the socket stays open until the peer lets go of it (F2); it just is not served any more.
void PublisherEnd::fail(const std::exception& why) {
  if (stage_ == Stage::deaf) return;  // once is enough
  const bool is_violation = dynamic_cast<const Violation*>(&why) != nullptr;
  const bool listed = stage_ == Stage::serving;
  stage_ = Stage::deaf;
  channel_.complain(why.what());
  const auto publisher = publisher_.lock();
  if (publisher && !is_violation) publisher->meet_readers_again();
  if (listed && publisher) {
    publisher->on_unsubscribed(*this);
  } else {
    ended();
  }
  // Last: there may be no memory to say it.
  base::log(base::LogLevel::warn, "subscriber '" + peer() + "' is not served any more: " + reason_of(why));
}

void PublisherEnd::handle(Channel::Input& input) {
  const auto publisher = publisher_.lock();
  if (!publisher) return;
  if (const auto* doorbell = std::get_if<wire::Doorbell>(&input.message)) {
    on_doorbell(*doorbell, input);
  } else if (const auto* attach = std::get_if<wire::Attach>(&input.message)) {
    on_attach(*attach, input);
  } else if (const auto* error = std::get_if<wire::ErrorText>(&input.message)) {
    throw Farewell("it says: " + base::printable(error->text));
  } else if (std::holds_alternative<wire::ReadsPieces>(input.message)) {
    on_reads_pieces(*publisher);
  } else if (stage_ != Stage::serving && std::holds_alternative<wire::Unsubscribe>(input.message)) {
    stage_ = Stage::deaf;  // what it has sent after that means nothing
    ended();
  } else if (stage_ != Stage::serving) {
    throw Violation(std::string(wire::name_of(input.message)) + " came before Attach");
  } else if (const auto* mapped_chunk = std::get_if<wire::ChunkMapped>(&input.message)) {
    publisher->on_chunk_mapped(*this, mapped_chunk->id);
  } else if (const auto* unmapped_chunk = std::get_if<wire::ChunkUnmapped>(&input.message)) {
    publisher->on_chunk_unmapped(*this, unmapped_chunk->id);
  } else if (const auto* cancelled = std::get_if<wire::CancelCall>(&input.message); cancelled && publisher->endpoint() != 0) {
    if (!unsubscribed_) publisher->call_cancelled(endpoint(), cancelled->id);  // else nobody would forget that
  } else if (std::holds_alternative<wire::Unsubscribe>(input.message)) {
    if (std::exchange(unsubscribed_, true)) throw Violation("Unsubscribe came twice");
    publisher->on_unsubscribed(*this);
  } else {
    throw Violation(std::string(wire::name_of(input.message)) + " is not for a publisher");
  }
}

void PublisherEnd::on_doorbell(const wire::Doorbell& message, Channel::Input& input) {
  if (stage_ != Stage::waits_for_doorbell) throw Violation("Doorbell came twice");
  require_user(input.credentials, true);
  if (message.offset % alignof(shm::BellWord) != 0 || message.offset > message.size ||
      message.size - message.offset < sizeof(shm::BellWord)) {
    throw Violation("the doorbell's word does not lie in its page");
  }
  if (!os::is_eventfd(input.descriptors[1])) throw Violation("the doorbell is not an eventfd");
  Attached page = attach_mapping(input.descriptors[0], message.size);
  if (page.violation) throw Violation("the doorbell's page: " + page.why);
  if (!page.mapping) throw Shortage("the doorbell's page cannot be mapped: " + page.why);
  bell_mapping_ = std::move(page.mapping);
  bell_fd_ = std::move(input.descriptors[1]);
  ringer_.emplace(*std::launder(reinterpret_cast<const shm::BellWord*>(bell_mapping_->data() + message.offset)));
  // The kernel's word on who sent this, in this process's own PID namespace.
  if (os::Fd pidfd = os::open_pidfd(input.credentials->pid)) {
    auto process = std::make_shared<ProcessWatch>(loop_, std::move(pidfd), weak_from_this());
    const std::lock_guard lock(watching_);
    if (!stopped_) {
      process->watch = loop_.watch(process->fd, process);
      process_ = std::move(process);
    }
  }
  stage_ = Stage::waits_for_attach;
  // Before DoorbellTaken, so that Attach answers for it: Ring and a chunk follow, and no more than two descriptors may be in flight (S6).
  if (const auto publisher = publisher_.lock(); publisher && publisher->space() && holds_back_) {
    const int space_fd = publisher->space().get();
    channel_.send(wire::Space{}, {&space_fd, 1});
  }
  channel_.send(wire::DoorbellTaken{});
}

void PublisherEnd::on_attach(const wire::Attach& message, Channel::Input& input) {
  if (stage_ != Stage::waits_for_attach) throw Violation("Attach came at the wrong time");
  if (message.size < sizeof(shm::AckPage)) throw Violation("the ack page is too small");
  Attached page = attach_mapping(input.descriptors[0], message.size);
  if (page.violation) throw Violation("the ack page: " + page.why);
  if (!page.mapping) throw Shortage("the ack page cannot be mapped: " + page.why);
  ack_mapping_ = std::move(page.mapping);
  const auto& ack = *std::launder(reinterpret_cast<const shm::AckPage*>(ack_mapping_->data()));
  if (!shm::is_understood(ack)) throw Violation("the ack page has another layout version: use the same version of sinew in both processes");
  const auto publisher = publisher_.lock();
  if (publisher) publisher->hear(endpoint());
  if (publisher && publisher->serves(endpoint())) throw Violation("its endpoint is that of another reader");
  ack_.emplace(ack);
  stage_ = Stage::serving;
  SINEW_POINT("publisher.attaching");
  if (publisher) publisher->start_serving(shared_from_this());
}

void PublisherEnd::on_reads_pieces(Publisher& publisher) {
  if (stage_ == Stage::waits_for_doorbell || reads_pieces_) throw Violation("ReadsPieces came twice, or before Doorbell");
  if (stage_ == Stage::serving) {
    publisher.start_writing_pieces(*this);
  } else {
    reads_pieces_ = true;  // before it is listed: every frame for it has them
  }
}

std::uint64_t PublisherEnd::decided(std::uint64_t head) const noexcept {
  if (left_) return head;
  const std::uint64_t cursor = std::max(start_ - 1, std::min(ack_->cursor(), head));
  const std::uint64_t depth = introduction_.qos.depth == 0 ? shm::ring_capacity : introduction_.qos.depth;
  if (holds_back_) return cursor;
  return std::max(cursor, head > depth ? head - depth : 0);
}

void PublisherEnd::ring_if_asleep() noexcept {
  if (!left_ && ringer_->must_ring()) os::ring(bell_fd_.get());
}

void PublisherEnd::give_up(const char* why) noexcept {
  left_ = true;
  channel_.complain(why);
  try {
    base::log(base::LogLevel::warn, "subscriber '" + peer() + "' is not served any more: " + why);
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::warn, shortage.what());
  }
}

// --- chunks ------------------------------------------------------------------------------------------------------------------------

void PublisherEnd::announce(const Chunk& chunk) {
  if (left_ || is_behind_) return;
  if (chunk.id > last_announced_) {
    if (chunk.memfd && in_flight_ == 0 && waiting_.empty()) {
      send(chunk, *chunk.memfd);
    } else if (!queue(chunk)) {
      return;
    }
    last_announced_ = chunk.id;
  }
  send_waiting();  // also what could not be sent the last time
}

// False when this process has no descriptor left for it; then all is announced anew when the reader has answered what is in flight.
bool PublisherEnd::queue(const Chunk& chunk) {
  try {
    waiting_.push_back({chunk, chunk.memfd ? chunk.memfd->duplicate() : os::Fd()});
  } catch (const Error&) {
    if (in_flight_ == 0) throw;  // no answer will come
    is_behind_ = true;
  }
  return !is_behind_;
}

void PublisherEnd::send(const Chunk& chunk, const os::Fd& memfd) {
  const int fd = memfd.get();
  told_.reserve(told_.size() + 1);
  channel_.send(wire::Chunk{chunk.id, chunk.address, chunk.size}, {&fd, 1});
  in_flight_ = chunk.id;
  told_.push_back(chunk.id);
}

// One descriptor in flight per pair: a stopped subscriber must not use up what the user's processes may have in flight together (S6).
void PublisherEnd::send_waiting() {
  while (in_flight_ == 0 && !waiting_.empty()) {
    const Waiting& next = waiting_.front();
    if (next.memfd) {
      send(next.chunk, next.memfd);
    } else {
      tell_withdrawn(next.chunk.id);
    }
    waiting_.pop_front();
  }
}

bool PublisherEnd::withdraw(std::uint64_t chunk) {
  if (chunk > last_announced_) {
    announce({chunk, 0, 0, nullptr});
    return false;
  }
  for (Waiting& waiting : waiting_) {
    if (waiting.chunk.id != chunk) continue;
    waiting.memfd.reset();
    return false;
  }
  // One that came and went before this reader was told of a newer one is none of its business: the withdrawal would overtake those that still wait.
  if (std::ranges::find(told_, chunk) != told_.end()) {
    tell_withdrawn(chunk);
    std::erase(told_, chunk);
  }
  return std::ranges::find(withdrawn_, chunk) != withdrawn_.end();
}

void PublisherEnd::tell_withdrawn(std::uint64_t chunk) {
  withdrawn_.reserve(withdrawn_.size() + 1);
  channel_.send(wire::ChunkWithdrawn{chunk});
  withdrawn_.push_back(chunk);
}

void PublisherEnd::on_mapped(std::uint64_t chunk) {
  if (chunk != in_flight_ || chunk == 0) throw Violation("ChunkMapped answers no announcement");
  in_flight_ = 0;
  send_waiting();
}

void PublisherEnd::on_unmapped(std::uint64_t chunk) {
  if (std::erase(withdrawn_, chunk) == 0) throw Violation("ChunkUnmapped answers no withdrawal");
}

}  // namespace sinew::session
