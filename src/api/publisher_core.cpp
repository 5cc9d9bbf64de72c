#include "sinew/detail/publisher_core.hpp"

#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "api/description.hpp"
#include "api/publisher_impl.hpp"
#include "api/type_storage.hpp"
#include "base/cancel.hpp"
#include "base/log.hpp"
#include "msg/walk.hpp"
#include "session/fork.hpp"
#include "shm/scope.hpp"

namespace sinew::detail {
namespace {

PublishResult result_of(session::Publisher::Outcome outcome) noexcept {
  switch (outcome) {
    case session::Publisher::Outcome::published:
      return PublishResult::published;
    case session::Publisher::Outcome::held_back:
      return PublishResult::would_block;
    case session::Publisher::Outcome::no_memory:
      return PublishResult::no_memory;
    case session::Publisher::Outcome::closed:
    case session::Publisher::Outcome::nobody:
      return PublishResult::closed;
  }
  return PublishResult::closed;
}

void* allocate_on_heap(const msg::Type& type) {
  return ::operator new(type.size, std::align_val_t(type.align));
}
void free_on_heap(const msg::Type& type, void* object) noexcept {
  ::operator delete(object, std::align_val_t(type.align));
}

void free_wherever_it_lies(const msg::Type& type, void* object) noexcept {
  if (shm::in_window_range(object)) {
    shm::scope_free(object);
  } else {
    free_on_heap(type, object);
  }
}

// Who sends it says which has not.
bool has_its_values(const msg::Type& type, const void* object) noexcept {
  try {
    return !msg::variant_without_value(type, object);
  } catch (const std::bad_alloc&) {
    return false;  // for the path of one that has not
  }
}

std::string what_is_wrong(const std::optional<std::string>& variant) {
  if (!variant) return "it is null, or a loan that was moved from; make one for each message";
  return (variant->empty() ? "it is" : "field '" + *variant + "' is") +
         " a variant that lost its value when an assignment threw; assign it again, or drop the message";
}

std::string not_published(const std::string& topic) {
  return "topic '" + topic + "': a message was not published (said once; statistics().refused counts)";
}

/// Says what `text()` makes, unless it was said already. Where there is no memory for that, it is not said: what it is about is counted, too.
template <class Text>
void say_once(std::atomic<bool>& said, Text text) noexcept {
  if (said.exchange(true, std::memory_order_relaxed)) return;  // relaxed: one thread is the first
  try {
    base::log(base::LogLevel::warn, text());
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::warn, shortage.what());
  }
}

// An object made in allocate_object()'s memory, wherever its storage lies. Throws std::bad_alloc, having let go of it.
std::shared_ptr<const void> share_as_it_is(const msg::Type& type, void* object) {
  return {static_cast<const void*>(object), [&type](const void* kept) {
            if (session::forked()) return;  // in shared memory, which is not there
            void* const message = const_cast<void*>(kept);
            const shm::HeapScope heap;
            type.destroy(message);
            if (shm::in_window_range(message)) {
              shm::scope_free(message);
            } else {
              free_on_heap(type, message);
            }
          }};
}

}  // namespace

std::shared_ptr<PublisherCore> PublisherCore::Impl::create(const std::shared_ptr<session::NodeSession>& session, const std::string& topic,
                                                           const msg::Message& type, const ObjectType& objects,
                                                           const session::Publisher::Options& options, const PublisherEvents& events,
                                                           ThreadId execution_thread) {
  return create(session, topic, description_of(type), {type.type, storage_of(*type.type), objects_of(*type.type, objects)}, options, events,
                execution_thread);
}

std::shared_ptr<PublisherCore> PublisherCore::Impl::create(const std::shared_ptr<session::NodeSession>& session, const std::string& topic,
                                                           const wire::TypeDescription& description, const Table& table,
                                                           const session::Publisher::Options& options, const PublisherEvents& events,
                                                           ThreadId execution_thread) {
  auto impl = std::make_unique<Impl>();
  impl->type = table.type;
  impl->session = session;
  impl->publisher = session->create_publisher(topic, description, table.storage, table.objects, options, events, execution_thread);
  const std::shared_ptr<session::Publisher> publisher = impl->publisher;
  try {
    return std::make_shared<PublisherCore>(std::move(impl));
  } catch (const std::bad_alloc&) {
    session->remove(*publisher);
    throw;
  }
}

session::Publisher::Outcome PublisherCore::Impl::deliver(std::uint64_t endpoint, session::GivenMessage message, session::NewFrame frame,
                                                         std::string* why) {
  if (endpoint == 0) return publisher->publish(std::move(message), frame);
  std::uint64_t sequence = 0;
  std::string unheard;
  return publisher->send(endpoint, std::move(message), frame, sequence, why ? *why : unheard);
}

std::optional<std::uint64_t> PublisherCore::Impl::complete(void* object) noexcept {
  try {
    WindowMemory memory(publisher->window());
    const msg::Audit audit = msg::audit(*type, object, memory, memory);
    if (!audit.complete) return std::nullopt;
    if (audit.copied > 0) repaired_in_place(audit);
    return audit.size;
  } catch (const std::bad_alloc&) {
    return std::nullopt;  // for the name of what was to be copied in
  }
}

void PublisherCore::Impl::repaired_in_place(const msg::Audit& audit) noexcept {
  publisher->count_copied(audit.copied);
  count_repaired([&] { return "field '" + audit.first_field + "' was built outside the loan"; });
  say_once(repair_reported, [&] {
    return "topic '" + topic() + "': field '" + audit.first_field + "' was built outside the loan; publish copied " +
           std::to_string(audit.copied) + " bytes in (said once; statistics().bytes_copied counts)";
  });
}

// The first for whose reason there is memory tells it.
template <class Why>
void PublisherCore::Impl::count_repaired(Why why) noexcept {
  const std::lock_guard lock(mutex);
  repaired.fetch_add(1, std::memory_order_relaxed);
  try {
    if (first_reason.empty()) first_reason = why();
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::string PublisherCore::Impl::why_repaired() const {
  const std::lock_guard lock(mutex);
  return first_reason;
}

const char* PublisherCore::Impl::why_on_heap() const {
  return not_replaced.load(std::memory_order_relaxed) ? "a module of this process is not linked with sinew's operator new"
                                                      : "there was no shared memory when it was loaned";
}

PublishResult PublisherCore::Impl::refused(std::uint64_t endpoint) {
  if (publisher->is_closed()) return PublishResult::closed;  // no wonder that there is no memory
  publisher->count_refused();
  return reported(session::Publisher::Outcome::no_memory, endpoint);
}

PublishResult PublisherCore::Impl::reported(session::Publisher::Outcome outcome, std::uint64_t endpoint) {
  const PublishResult result = result_of(outcome);
  if (endpoint != 0) return result;  // what goes to one reader is sent again by who sends it, or fails there, with the reason
  if (result == PublishResult::no_memory) {
    say_once(refusal_reported, [&] { return not_published(topic()) + ". " + std::string(reason_in(publisher->window().why_refused())); });
  }
  if (result == PublishResult::would_block) {
    say_once(wait_reported, [&] {
      return not_published(topic()) +
             ": a reliable keep-all subscriber is a whole ring behind, and caught up too late for max_blocking (PublisherOptions); "
             "subscribers() says which one";
    });
  }
  return result;
}

PublishResult PublisherCore::Impl::invalid(const std::function<std::string()>& why, std::string* why_invalid) {
  publisher->count_refused();
  if (why_invalid) *why_invalid = why();
  say_once(refusal_reported, [&] { return not_published(topic()) + ": " + why(); });
  return PublishResult::invalid;
}

PublisherCore::PublisherCore(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

PublisherCore::~PublisherCore() {
  if (session::forked()) {
    (void)impl_.release();  // the child's copy is dead: its mappings are gone and its threads do not exist
    return;
  }
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  impl_->session->remove(*impl_->publisher);
  impl_.reset();  // while nobody can cancel it
}

const std::string& PublisherCore::topic() const noexcept {
  return impl_->topic();
}

void PublisherCore::prefault(std::size_t bytes) {
  const shm::HeapScope heap;
  shm::Window& window = impl_->publisher->window();
  if (bytes == 0 || window.reserve(bytes)) return;
  throw Error(ErrorKind::exhausted, "topic '" + impl_->topic() + "': cannot prefault " + std::to_string(bytes) + " bytes. " +
                                        std::string(reason_in(window.why_refused())));
}

// --- building ----------------------------------------------------------------------------------------------------------------------

void* PublisherCore::allocate_object(bool in_place) {
  const shm::HeapScope heap;
  const msg::Type& type = *impl_->type;
  if (in_place && !session::forked()) {
    impl_->publisher->reclaim();
    shm::Window& window = impl_->publisher->window();
    if (void* object = window.allocate(type.size, type.align)) return object;
  }
  return allocate_on_heap(type);
}

bool PublisherCore::in_forked_child() noexcept {
  return session::forked();
}

void PublisherCore::free_object(void* object) noexcept {
  impl_->publisher->start_over();
  free_wherever_it_lies(*impl_->type, object);
}

PublisherCore::ScopeToken PublisherCore::enter_scope() noexcept {
  const shm::ScopeState before = shm::enter_scope(&impl_->publisher->window());
  return {before.before, before.thread};
}

PublisherCore::ScopeToken PublisherCore::leave_window() noexcept {
  const shm::ScopeState before = shm::enter_scope(nullptr);
  return {before.before, before.thread};
}

void PublisherCore::leave_scope(const ScopeToken& token) noexcept {
  shm::leave_scope({static_cast<shm::Window*>(token.before), token.thread});
}

std::uint64_t PublisherCore::times_asked() noexcept {
  return shm::times_asked();
}

bool PublisherCore::is_replacement(void (*operator_delete)(void*) noexcept) noexcept {
  return shm::is_replacement(operator_delete);
}

void PublisherCore::report_not_replaced() const {
  impl_->not_replaced.store(true, std::memory_order_relaxed);
  base::log(base::LogLevel::warn,
            "topic '" + impl_->topic() +
                "': a module of this process is not linked with sinew's operator new (see sinew's pkg-config or CMake package); "
                "its loans are built on the heap and copied at publish");
}

// --- publishing --------------------------------------------------------------------------------------------------------------------

PublishResult PublisherCore::publish_object(void* object) {
  return publish_object_to(0, object, nullptr);
}

PublishResult PublisherCore::send_object(std::uint64_t endpoint, void* object, std::string* why) {
  return publish_object_to(endpoint, object, why);
}

PublishResult PublisherCore::publish_object_to(std::uint64_t endpoint, void* object, std::string* why) {
  const shm::HeapScope heap;
  const msg::Type& type = *impl_->type;
  session::Publisher& publisher = *impl_->publisher;
  if (session::forked()) return PublishResult::closed;
  if (!object) return invalid(std::nullopt, why);
  if (const auto variant = msg::variant_without_value(type, object)) {
    type.destroy(object);
    free_object(object);
    return invalid(variant, why);
  }
  const bool read_in_window = endpoint == 0 ? publisher.is_read_elsewhere() : publisher.reach(endpoint) == session::Reach::same_user;
  if (!read_in_window || !type.in_place) return publish_shared_loan(endpoint, object, why);
  if (!publisher.window().contains(object, type.size)) {
    // Behind publishing it this may be gone: the deleter of a message that it pushes out may end the publisher.
    impl_->count_repaired([this] { return "the message was built on the heap: " + std::string(impl_->why_on_heap()); });
    struct Built {
      const msg::Type& type;
      void* object;
      ~Built() {
        type.destroy(object);
        free_wherever_it_lies(type, object);
      }
    } const built{type, object};
    return publish_copy_to(endpoint, object, why);
  }
  const std::optional<std::uint64_t> size = impl_->complete(object);
  if (!size) {
    type.destroy(object);
    free_object(object);
    try {
      if (why) *why = publisher.window().why_refused();
    } catch (const std::bad_alloc&) {
      why->clear();
    }
    return impl_->refused(endpoint);
  }
  return impl_->reported(impl_->deliver(endpoint, {.borrowed = object, .owned = {}, .shared = {}}, {.root = object, .size = *size}, why),
                         endpoint);
}

// Nobody outside of this process reads it where it is: it may stay as it is, wherever its storage lies.
PublishResult PublisherCore::publish_shared_loan(std::uint64_t endpoint, void* object, std::string* why) {
  std::shared_ptr<const void> shared;
  try {
    shared = share_as_it_is(*impl_->type, object);
  } catch (const std::bad_alloc&) {
    return impl_->refused(endpoint);
  }
  return impl_->reported(impl_->deliver(endpoint, {.borrowed = nullptr, .owned = {}, .shared = std::move(shared)}, {}, why), endpoint);
}

SharedMessage PublisherCore::share_object(void* object) {
  const shm::HeapScope heap;
  const msg::Type& type = *impl_->type;
  session::Publisher& publisher = *impl_->publisher;
  if (session::forked() || !object) return {};
  std::optional<std::uint64_t> size;
  if (type.in_place && publisher.window().contains(object, type.size) && has_its_values(type, object)) size = impl_->complete(object);
  if (!size) return {share_as_it_is(type, object), 0};
  return {publisher.share({.root = object, .size = *size}), *size};
}

PublishResult PublisherCore::publish_copy(const void* source) {
  return publish_copy_to(0, source, nullptr);
}

PublishResult PublisherCore::publish_copy_to(std::uint64_t endpoint, const void* source, std::string* why) {
  const shm::HeapScope heap;
  if (session::forked()) return PublishResult::closed;
  const msg::Type& type = *impl_->type;
  if (const auto variant = msg::variant_without_value(type, source)) return invalid(variant, why);
  session::Publisher& publisher = *impl_->publisher;
  session::NewFrame frame;
  // Before publish(), which is one at a time; behind its wait where it may have to.
  if (endpoint == 0 && publisher.is_read_elsewhere() && !publisher.may_be_held_back()) {
    frame = publisher.copy_in(source);
    if (!frame.is_in_window()) return impl_->refused();
  }
  return impl_->reported(impl_->deliver(endpoint, {.borrowed = source, .owned = {}, .shared = {}}, frame, why), endpoint);
}

PublishResult PublisherCore::publish_owned(void* object) {
  const shm::HeapScope heap;
  session::GivenMessage message{.borrowed = nullptr, .owned = {object, {&impl_->publisher->objects()}}, .shared = {}};
  if (session::forked()) return PublishResult::closed;
  if (!object) return invalid(std::nullopt);
  if (const auto variant = msg::variant_without_value(*impl_->type, object)) return invalid(variant);
  return impl_->reported(impl_->publisher->publish(std::move(message), {}), 0);
}

PublishResult PublisherCore::publish_shared(std::shared_ptr<const void> object) {
  const shm::HeapScope heap;
  if (session::forked()) return PublishResult::closed;
  if (!object) return invalid(std::nullopt);
  if (const auto variant = msg::variant_without_value(*impl_->type, object.get())) return invalid(variant);
  return impl_->reported(impl_->publisher->publish({.borrowed = nullptr, .owned = {}, .shared = std::move(object)}, {}), 0);
}

PublishResult PublisherCore::send_shared(std::uint64_t endpoint, SharedMessage message, std::uint64_t* sequence, std::string* why) {
  const shm::HeapScope heap;
  if (session::forked()) return PublishResult::closed;
  if (!message.object) return invalid(std::nullopt, why);
  if (impl_->type) {
    if (const auto variant = msg::variant_without_value(*impl_->type, message.object.get())) return invalid(variant, why);
  }
  std::uint64_t ignored = 0;
  std::string unheard;
  session::GivenMessage given{.borrowed = nullptr, .owned = {}, .shared = std::move(message.object), .in_window = message.in_window};
  return impl_->reported(impl_->publisher->send(endpoint, std::move(given), {}, sequence ? *sequence : ignored, why ? *why : unheard),
                         endpoint);
}

PublishResult PublisherCore::invalid(const std::optional<std::string>& variant, std::string* why_invalid) {
  return impl_->invalid([&] { return what_is_wrong(variant); }, why_invalid);
}

void PublisherCore::assert_liveliness() {
  if (session::forked()) return;
  impl_->publisher->status().assert_liveliness();
}

std::vector<MatchedSubscriber> PublisherCore::subscribers() const {
  const shm::HeapScope heap;
  if (session::forked()) return {};
  return impl_->publisher->subscribers();
}

PublisherStatistics PublisherCore::statistics() const {
  const shm::HeapScope heap;
  if (session::forked()) return {};
  PublisherStatistics statistics = impl_->publisher->statistics();
  statistics.messages_repaired = impl_->repaired.load(std::memory_order_relaxed);
  statistics.why_repaired = impl_->why_repaired();
  return statistics;
}

}  // namespace sinew::detail
