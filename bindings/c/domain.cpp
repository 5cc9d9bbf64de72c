#include <algorithm>
#include <memory>
#include <utility>

#include "bindings/c/node.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"
#include "sinew/domain.hpp"
#include "sinew/domain_watch.hpp"

using namespace sinew;

struct sinew_domain_watch {
  std::shared_ptr<DomainWatch> watch;
};

// A sinew_domain_update is a DomainUpdate.
static const DomainUpdate& told_by(const sinew_domain_update* update) {
  return *reinterpret_cast<const DomainUpdate*>(update);
}

bool sinew_domain_update_is_anew(const sinew_domain_update* update) {
  return told_by(update).anew;
}

bool sinew_domain_update_is_complete(const sinew_domain_update* update) {
  return told_by(update).complete;
}

size_t sinew_domain_update_node_count(const sinew_domain_update* update) {
  return told_by(update).nodes.size();
}

sinew_domain_node sinew_domain_update_node(const sinew_domain_update* update, size_t index) {
  const DomainNode& node = told_by(update).nodes[index];
  return {.id = node.id, .name = node.name.c_str(), .container = node.container.c_str(), .pid = node.pid, .uid = node.uid, .gid = node.gid};
}

size_t sinew_domain_update_topic_count(const sinew_domain_update* update) {
  return told_by(update).topics.size();
}

sinew_domain_topic sinew_domain_update_topic(const sinew_domain_update* update, size_t index) {
  const DomainTopic& topic = told_by(update).topics[index];
  sinew_domain_topic made{
      .id = topic.id, .name = topic.name.c_str(), .type = topic.type.c_str(), .signature = topic.schema.c_str(), .hash = {}};
  std::ranges::copy(topic.hash, made.hash);
  return made;
}

size_t sinew_domain_update_endpoint_count(const sinew_domain_update* update) {
  return told_by(update).endpoints.size();
}

sinew_domain_endpoint sinew_domain_update_endpoint(const sinew_domain_update* update, size_t index) {
  const DomainEndpoint& end = told_by(update).endpoints[index];
  return {.id = end.id,
          .node = end.node,
          .topic = end.topic,
          .memory = end.memory,
          .deadline_ns = end.qos.deadline,
          .lifespan_ns = end.qos.lifespan,
          .lease_ns = end.qos.lease,
          .depth = end.qos.depth,
          .publishes = end.publishes,
          .ghost = static_cast<uint8_t>(end.ghost),
          .reliable = end.qos.reliable,
          .transient_local = end.qos.transient_local,
          .manual_by_topic = end.qos.manual_by_topic};
}

size_t sinew_domain_update_pair_count(const sinew_domain_update* update) {
  return told_by(update).pairs.size();
}

sinew_domain_pair sinew_domain_update_pair(const sinew_domain_update* update, size_t index) {
  const DomainPair& pair = told_by(update).pairs[index];
  return {.publisher = pair.publisher,
          .subscriber = pair.subscriber,
          .why = pair.why.c_str(),
          .delivery = static_cast<int32_t>(pair.delivery),
          .connected = pair.connected};
}

size_t sinew_domain_update_gone_count(const sinew_domain_update* update) {
  return told_by(update).gone.size();
}

uint64_t sinew_domain_update_gone(const sinew_domain_update* update, size_t index) {
  return told_by(update).gone[index];
}

size_t sinew_domain_update_lost_count(const sinew_domain_update* update) {
  return told_by(update).lost.size();
}

uint64_t sinew_domain_update_lost(const sinew_domain_update* update, size_t index) {
  return told_by(update).lost[index];
}

sinew_status sinew_domain_get(sinew_node* node, sinew_domain_update** everything) {
  return c::guarded([&] {
    sinew_domain_update*& into = c::given(everything, "everything");
    DomainState state = c::given(node, "node").node->domain_state();
    into = reinterpret_cast<sinew_domain_update*>(new DomainUpdate{.anew = true,
                                                                   .complete = true,
                                                                   .nodes = std::move(state.nodes),
                                                                   .topics = std::move(state.topics),
                                                                   .endpoints = std::move(state.endpoints),
                                                                   .pairs = std::move(state.pairs)});
    return SINEW_OK;
  });
}

sinew_status sinew_node_disconnect(sinew_node* node, const char* name) {
  return c::guarded([&] {
    c::given(node, "node").node->disconnect(&c::given(name, "name"));
    return SINEW_OK;
  });
}

void sinew_domain_release(sinew_domain_update* everything) {
  delete reinterpret_cast<DomainUpdate*>(everything);
}

sinew_status sinew_domain_watch_create(sinew_node* node, const sinew_domain_watch_options* options, sinew_domain_watch** watch) {
  return c::guarded([&] {
    const sinew_domain_watch_options asked = c::read(options, "sinew_domain_watch_options");
    const std::shared_ptr<void> context = c::kept(asked.context, asked.release);
    sinew_domain_watch*& into = c::given(watch, "watch");
    if (!asked.on_update) throw Error(ErrorKind::invalid_argument, "sinew_domain_watch_options.on_update is NULL");
    auto made = std::make_unique<sinew_domain_watch>();
    made->watch = c::given(node, "node")
                      .node->watch_domain(
                          [call = asked.on_update, context](const DomainUpdate& update) {
                            call(context.get(), reinterpret_cast<const sinew_domain_update*>(&update));
                          },
                          {.execution_thread = asked.execution_thread});
    into = made.release();
    return SINEW_OK;
  });
}

void sinew_domain_watch_destroy(sinew_domain_watch* watch) {
  delete watch;
}
