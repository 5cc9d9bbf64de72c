#include "session/publisher/foreign_end.hpp"

#include <utility>

#include "base/log.hpp"
#include "base/printable.hpp"
#include "session/io/trust.hpp"
#include "session/publisher/publisher.hpp"

namespace sinew::session {

ForeignEnd::ForeignEnd(std::weak_ptr<Publisher> publisher, IoLoop& loop, os::Fd socket, wire::ConnectPublisher introduction)
    : publisher_(std::move(publisher)), loop_(loop), introduction_(std::move(introduction)), channel_(std::move(socket)) {}

void ForeignEnd::ended() {
  over_ = true;
  stop();
  if (const auto publisher = publisher_.lock()) publisher->forget(shared_from_this());
}

void ForeignEnd::on_event(const os::Poller::Event& event) {
  const auto self = shared_from_this();
  try {
    if (event.writable) channel_.flush();
    for (int turn = 0; turn < Channel::turns_per_event && !over_; ++turn) {
      auto input = channel_.receive();
      if (!input) break;
      handle(*input);
    }
    if (!over_ && channel_.state() == Channel::State::closed) ended();
  } catch (const std::exception& error) {
    fail(error);
  }
}

void ForeignEnd::fail(const std::exception& why) {
  const bool is_violation = dynamic_cast<const Violation*>(&why) != nullptr;
  channel_.complain(why.what());
  ended();
  if (const auto publisher = publisher_.lock(); publisher && !is_violation) publisher->meet_readers_again();
  // Last: there may be no memory to say it.
  base::log(base::LogLevel::warn, "subscriber '" + peer() + "' of another user is not served any more: " + reason_of(why));
}

void ForeignEnd::handle(Channel::Input& input) {
  const auto publisher = publisher_.lock();
  if (!publisher) return;
  if (std::holds_alternative<wire::AttachForeign>(input.message)) {
    if (std::exchange(asked_, true)) throw Violation("AttachForeign came twice");
    require_user(input.credentials, false);
    publisher->hear(endpoint());
    if (publisher->serves(endpoint())) throw Violation("its endpoint is that of another reader");
    if (!publisher->has_place_for(*this)) return ended();
    publisher->start_exporting(shared_from_this());
  } else if (const auto* error = std::get_if<wire::ErrorText>(&input.message)) {
    throw Farewell("it says: " + base::printable(error->text));
  } else if (!asked_) {
    throw Violation(std::string(wire::name_of(input.message)) + " came before AttachForeign");
  } else if (const auto* mapped = std::get_if<wire::ChunkMapped>(&input.message)) {
    publisher->with_export(*this, [&](const Export& exported, std::uint64_t) { on_chunk_mapped(exported, mapped->id); });
  } else if (std::holds_alternative<wire::NewsTaken>(input.message)) {
    publisher->with_export(*this, [&](const Export& exported, std::uint64_t head) { news_taken(exported, head); });
  } else if (std::holds_alternative<wire::ChunkUnmapped>(input.message)) {
    // Nobody waits for it: the addresses are not addresses.
    publisher->with_export(*this, [&](const Export&, std::uint64_t) { on_chunk_unmapped(); });
  } else if (const auto* cancelled = std::get_if<wire::CancelCall>(&input.message); cancelled && publisher->endpoint() != 0) {
    publisher->call_cancelled(endpoint(), cancelled->id);
  } else if (std::holds_alternative<wire::Unsubscribe>(input.message)) {
    ended();
  } else {
    throw Violation(std::string(wire::name_of(input.message)) + " is not for a publisher of another user");
  }
}

Export& ForeignEnd::export_alone(const std::string& topic, std::uint64_t budget) {
  // Chunks only grow, and every message has to go out, in whatever slot its turn is: none takes what others will need.
  alone_ = std::make_unique<Export>(topic, budget, budget / shm::export_depth);
  return *alone_;
}

void ForeignEnd::send_ring(const Export& exported, std::uint64_t start) {
  attached_ = true;
  const int ring = exported.ring().get();
  channel_.send(wire::Ring{static_cast<std::uint32_t>(ring_file_size()), start}, {&ring, 1});
  told_head_ = start - 1;
  tell_chunks(exported);
}

// Invariant, of each of these: what stands down as told, or as unanswered, was sent. Sending may fail, for want of memory, and is tried again with the next message.
void ForeignEnd::tell(const Export& exported, std::uint64_t head) {
  tell_chunks(exported);
  if (news_unanswered_ || head == told_head_) return;
  channel_.send(wire::News{});  // first: of what could not be said no answer comes, and the next message says it
  news_unanswered_ = true;
  told_head_ = head;
}

// One descriptor in flight (S6). Chunks that were replaced meanwhile are left out: their frames are gone, too.
void ForeignEnd::tell_chunks(const Export& exported) {
  if (chunk_unanswered_ != 0) return;
  std::size_t next = shm::export_depth;
  for (std::size_t i = 0; i < shm::export_depth; ++i) {
    const std::uint64_t chunk = exported.slots()[i].chunk;
    if (chunk > newest_told_ && (next == shm::export_depth || chunk < exported.slots()[next].chunk)) next = i;
  }
  if (next == shm::export_depth) return;
  const Export::Slot& slot = exported.slots()[next];
  if (told_[next] != 0) {
    channel_.send(wire::ChunkWithdrawn{told_[next]});
    told_[next] = 0;  // once, also when its successor cannot be told now
    ++withdrawals_unanswered_;
  }
  const int fd = slot.memfd.get();
  channel_.send(wire::Chunk{slot.chunk, slot.address, slot.size}, {&fd, 1});
  told_[next] = newest_told_ = chunk_unanswered_ = slot.chunk;
}

void ForeignEnd::on_chunk_mapped(const Export& exported, std::uint64_t chunk) {
  if (chunk == 0 || chunk != chunk_unanswered_) throw Violation("ChunkMapped answers no announcement");
  chunk_unanswered_ = 0;
  tell_chunks(exported);
}

void ForeignEnd::on_chunk_unmapped() {
  if (withdrawals_unanswered_ == 0) throw Violation("ChunkUnmapped answers no withdrawal");
  --withdrawals_unanswered_;
}

void ForeignEnd::news_taken(const Export& exported, std::uint64_t head) {
  if (!news_unanswered_) throw Violation("NewsTaken answers nothing");
  news_unanswered_ = false;
  tell(exported, head);
}

}  // namespace sinew::session
