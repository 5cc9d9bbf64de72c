#include "bindings/c/node.hpp"

#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"

using namespace sinew;

sinew_status sinew_node_create(const char* name, const sinew_node_options* options, sinew_node** node) {
  return c::guarded([&] {
    const sinew_node_options asked = c::read(options, "sinew_node_options");
    sinew_node*& into = c::given(node, "node");
    NodeOptions made{.domain = asked.domain ? asked.domain : ""};
    if (asked.by_caller) made.executor = Executor::create({.by_caller = true});
    into = new sinew_node{Node::create(&c::given(name, "name"), made)};
    return SINEW_OK;
  });
}

void sinew_node_destroy(sinew_node* node) {
  delete node;
}

const char* sinew_node_name(const sinew_node* node) {
  return node ? node->node->name().c_str() : "";
}

sinew_status sinew_node_fd(sinew_node* node, int* fd) {
  return c::guarded([&] {
    int& into = c::given(fd, "fd");
    into = c::given(node, "node").node->fd();
    return SINEW_OK;
  });
}

sinew_status sinew_node_dispatch(sinew_node* node) {
  return c::guarded([&] {
    const std::shared_ptr<Executor> executor = c::given(node, "node").node->executor();  // a callback may destroy the node
    executor->dispatch();
    return SINEW_OK;
  });
}

sinew_status sinew_node_spin(sinew_node* node) {
  return c::guarded([&] {
    const std::shared_ptr<Executor> executor = c::given(node, "node").node->executor();
    executor->spin();
    return SINEW_OK;
  });
}

void sinew_node_stop(sinew_node* node) {
  if (node) node->node->executor()->stop();
}
