#include <algorithm>
#include <memory>

#include "bindings/c/node.hpp"
#include "bindings/c/status.hpp"
#include "sinew/domain.hpp"
#include "sinew/domain_counters.hpp"

using namespace sinew;

struct sinew_domain_counters {
  std::shared_ptr<DomainCounters> counters;
};

struct sinew_domain_counts {
  DomainCounts counts;
};

sinew_status sinew_domain_counters_create(sinew_node* node, sinew_domain_counters** counters) {
  return c::guarded([&] {
    sinew_domain_counters*& into = c::given(counters, "counters");
    into = new sinew_domain_counters{c::given(node, "node").node->domain_counters()};
    return SINEW_OK;
  });
}

void sinew_domain_counters_destroy(sinew_domain_counters* counters) {
  delete counters;
}

sinew_status sinew_domain_counters_read(const sinew_domain_counters* counters, sinew_domain_counts** counts) {
  return c::guarded([&] {
    sinew_domain_counts*& into = c::given(counts, "counts");
    into = new sinew_domain_counts{c::given(counters, "counters").counters->read()};
    return SINEW_OK;
  });
}

size_t sinew_domain_counts_publisher_count(const sinew_domain_counts* counts) {
  return counts->counts.publishers.size();
}

sinew_publisher_counts sinew_domain_counts_publisher(const sinew_domain_counts* counts, size_t index) {
  const DomainPublisherCounts& one = counts->counts.publishers[index];
  return {.publisher = one.publisher,
          .identity = one.identity,
          .messages = one.messages,
          .bytes = one.bytes,
          .bytes_copied = one.bytes_copied,
          .bytes_exported = one.bytes_exported,
          .refused = one.refused,
          .withdrawn = one.withdrawn,
          .newest_ns = one.newest};
}

size_t sinew_domain_counts_pair_count(const sinew_domain_counts* counts) {
  return counts->counts.pairs.size();
}

sinew_pair_counts sinew_domain_counts_pair(const sinew_domain_counts* counts, size_t index) {
  const DomainPairCounts& one = counts->counts.pairs[index];
  sinew_pair_counts made{.publisher = one.publisher,
                         .subscriber = one.subscriber,
                         .publisher_identity = one.publisher_identity,
                         .subscriber_identity = one.subscriber_identity,
                         .messages = one.messages,
                         .missed = one.missed,
                         .withdrawn = one.withdrawn,
                         .expired = one.expired,
                         .skipped = one.skipped,
                         .over_quota = one.over_quota,
                         .bytes_copied = one.bytes_copied,
                         .held = one.held,
                         .latency_total_ns = one.latency_total,
                         .latency = {}};
  std::ranges::copy(one.latency, made.latency);
  return made;
}

void sinew_domain_counts_release(sinew_domain_counts* counts) {
  delete counts;
}
