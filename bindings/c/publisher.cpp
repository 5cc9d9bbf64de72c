#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "api/raw_publisher.hpp"
#include "bindings/c/extents.hpp"
#include "bindings/c/node.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"

using namespace sinew;

struct sinew_publisher {
  detail::RawPublisher publisher;
};

// A sinew_loan is a detail::RawLoan.
static detail::RawLoan* loan_of(sinew_loan* loan) {
  return reinterpret_cast<detail::RawLoan*>(loan);
}

static sinew_status status_of(PublishResult result, const detail::RawPublisher& publisher) noexcept {
  if (result != PublishResult::no_memory) return c::status_of(result);
  try {
    const std::string why = publisher.why_no_memory();
    return why.empty() ? c::status_of(result) : c::fail(SINEW_NO_MEMORY, ("not published. " + why).c_str());
  } catch (const std::bad_alloc&) {
    return c::status_of(result);  // there is a sentence without it
  }
}

static PublisherOptions options_of(const sinew_publisher_options& asked) {
  PublisherOptions options;
  if (asked.memory_budget != 0) options.memory_budget = asked.memory_budget;
  options.prefault = asked.prefault;
  options.lock_memory = asked.lock_memory;
  if (asked.when_full > SINEW_WHEN_FULL_WAIT) {
    throw Error(ErrorKind::invalid_argument, "when_full = " + std::to_string(asked.when_full) + " is none of SINEW_WHEN_FULL_...");
  }
  options.when_full = static_cast<WhenFull>(asked.when_full);
  if (asked.withdraw_at_most != 0) options.withdraw_at_most = asked.withdraw_at_most;
  if (asked.max_blocking_ns != 0) options.max_blocking = std::chrono::nanoseconds(asked.max_blocking_ns);
  options.execution_thread = asked.execution_thread;
  options.ghost = c::ghost_of(asked.ghost);
  return options;
}

static_assert(static_cast<int>(WhenFull::withdraw) == SINEW_WHEN_FULL_WITHDRAW);
static_assert(static_cast<int>(WhenFull::withdraw_some) == SINEW_WHEN_FULL_WITHDRAW_SOME);
static_assert(static_cast<int>(WhenFull::refuse) == SINEW_WHEN_FULL_REFUSE);
static_assert(static_cast<int>(WhenFull::wait) == SINEW_WHEN_FULL_WAIT);

sinew_status sinew_publisher_create(sinew_node* node, const char* topic, const char* signature, const sinew_qos* qos,
                                    const sinew_publisher_options* options, sinew_publisher** publisher) {
  return c::guarded([&] {
    const sinew_publisher_options asked = c::read(options, "sinew_publisher_options");
    const c::EventSink sink{asked.on_event, c::kept(asked.context, asked.release), asked.events};
    sinew_publisher*& into = c::given(publisher, "publisher");
    PublisherOptions made = options_of(asked);
    made.events = c::publisher_events(sink);
    into = new sinew_publisher{detail::RawPublisher::create(*c::given(node, "node").node, &c::given(topic, "topic"),
                                                            &c::given(signature, "signature"), c::qos_of(qos, &c::given(topic, "topic")),
                                                            made)};
    return SINEW_OK;
  });
}

void sinew_publisher_destroy(sinew_publisher* publisher) {
  delete publisher;
}

sinew_status sinew_publisher_publish(sinew_publisher* publisher, const sinew_extent* extents, size_t count) {
  return c::guarded([&] {
    const detail::RawPublisher& to = c::given(publisher, "publisher").publisher;
    return status_of(to.publish(c::Extents(extents, count).all()), to);
  });
}

sinew_status sinew_publisher_loan(sinew_publisher* publisher, size_t capacity, sinew_loan** loan, uint8_t** data) {
  return c::guarded([&] {
    sinew_loan*& into = c::given(loan, "loan");
    uint8_t*& at = c::given(data, "data");
    const detail::RawPublisher& of = c::given(publisher, "publisher").publisher;
    PublishResult why{};
    std::unique_ptr<detail::RawLoan> made = of.loan(capacity, &why);
    if (!made) return status_of(why, of);
    at = reinterpret_cast<uint8_t*>(made->bytes().data());
    into = reinterpret_cast<sinew_loan*>(made.release());
    return sinew_status{SINEW_OK};
  });
}

sinew_status sinew_publisher_publish_loan(sinew_publisher* publisher, sinew_loan* loan, size_t used) {
  std::unique_ptr<detail::RawLoan> owned(loan_of(loan));
  return c::guarded([&] {
    const detail::RawPublisher& to = c::given(publisher, "publisher").publisher;
    c::given(loan, "loan");
    std::string why;
    const PublishResult result = to.publish(std::move(owned), used, &why);
    return result == PublishResult::invalid ? c::fail(SINEW_INVALID_MESSAGE, ("not published: " + why).c_str()) : status_of(result, to);
  });
}

sinew_status sinew_publisher_publish_pieces(sinew_publisher* publisher, sinew_loan* loan, const sinew_extent* extents, size_t count) {
  std::unique_ptr<detail::RawLoan> owned(loan_of(loan));
  return c::guarded([&] {
    const detail::RawPublisher& to = c::given(publisher, "publisher").publisher;
    c::given(loan, "loan");
    return status_of(to.publish(std::move(owned), c::Extents(extents, count).all()), to);
  });
}

void sinew_loan_release(sinew_loan* loan) {
  delete loan_of(loan);
}

struct sinew_loan_memory {
  std::shared_ptr<const void> kept;
};

sinew_status sinew_loan_keep(const sinew_loan* loan, sinew_loan_memory** memory) {
  return c::guarded([&] {
    sinew_loan_memory*& into = c::given(memory, "memory");
    c::given(loan, "loan");
    auto made = std::make_unique<sinew_loan_memory>();
    made->kept = reinterpret_cast<const detail::RawLoan*>(loan)->keep();
    if (!made->kept) return c::fail(SINEW_CLOSED, "the loan is not kept: this process was forked from the publisher's");
    into = made.release();
    return sinew_status{SINEW_OK};
  });
}

void sinew_loan_memory_release(sinew_loan_memory* memory) {
  delete memory;
}

void sinew_publisher_assert_liveliness(sinew_publisher* publisher) {
  if (publisher) publisher->publisher.core().assert_liveliness();
}

sinew_status sinew_publisher_get_statistics(const sinew_publisher* publisher, sinew_publisher_statistics* statistics) {
  return c::guarded([&] {
    sinew_publisher_statistics& into = c::given(statistics, "statistics");
    const PublisherStatistics told = c::given(publisher, "publisher").publisher.core().statistics();
    into = {.published = told.published,
            .bytes = told.bytes,
            .bytes_copied = told.bytes_copied,
            .bytes_exported = told.bytes_exported,
            .refused = told.refused,
            .withdrawn = told.withdrawn,
            .subscribers = told.subscribers,
            .memory_mapped = told.memory_mapped,
            .memory_in_use = told.memory_in_use,
            .incompatible = told.incompatible,
            .deadlines_missed = told.deadlines_missed,
            .liveliness_lost = told.liveliness_lost,
            .detached = told.detached};
    return SINEW_OK;
  });
}
