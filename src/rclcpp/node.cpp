#include "sinew/rclcpp/node.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "os/clock.hpp"
#include "os/event.hpp"
#include "rclcpp/context.hpp"
#include "rclcpp/rules.hpp"
#include "rclcpp/spun.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/domain_watch.hpp"
#include "sinew/rclcpp/context.hpp"

namespace sinew::rclcpp {
namespace {

bool is_provided(const DomainState& state, const std::string& service) {
  return std::ranges::any_of(services_of(state),
                             [&](const DomainService& each) { return each.name == service && !each.providers.empty(); });
}

/// What clients of a node use of it; it lives as long as one of them does.
class ForClients final : public detail::ClientNode, public std::enable_shared_from_this<ForClients> {
 public:
  explicit ForClients(const std::shared_ptr<sinew::Node>& node) : node_(node) {}

  /// The timer by which the node is told that there is work; null: it is gone.
  void set(sinew::Timer* timer) {
    const std::lock_guard lock(mutex_);
    timer_ = timer;
  }
  void post(std::function<void()> what) override {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(what));
    if (timer_) timer_->reset();
  }
  /// Does some of it; the timer is due as long as there is more. For so long, as it is callbacks, and others have their turn.
  void do_some() {
    constexpr std::int64_t share = 5'000'000;
    for (const std::int64_t end = os::later(os::now_ns(), share); do_next() && !detail::ends_here() && os::now_ns() < end;) {
    }
  }

  bool wait_for_provider(const std::string& service, std::chrono::nanoseconds timeout) override {
    const auto node = node_.lock();
    return node && detail::is_on() && wait_for_provider(*node, service, timeout);
  }

 private:
  /// True when there is more.
  bool do_next() {
    std::function<void()> next;
    bool has_more = false;
    {
      const std::lock_guard lock(mutex_);
      if (!work_.empty()) {
        next = std::move(work_.front());
        work_.pop_front();
      }
      has_more = !work_.empty();
      if (!has_more && timer_) timer_->cancel();
    }
    if (next) next();
    return has_more;
  }

  static constexpr ThreadId watching = 1022;  // no thread of the user's, which may be waiting
  /// Who has no time to wait for a provider has some to hear of one: what a manager takes that is there, and not stopped.
  static constexpr std::int64_t time_to_hear = 100'000'000;

  static bool wait_for_provider(sinew::Node& node, const std::string& service, std::chrono::nanoseconds timeout) {
    const os::Fd found = os::create_eventfd(), told = os::create_eventfd(), more = os::create_eventfd();
    const auto deadline = detail::deadline_of(timeout.count());
    DomainState state;
    const auto watch = node.watch_domain(
        [&](const DomainUpdate& update) {
          apply(update, state);
          if (is_provided(state, service)) os::ring(found.get());
          os::ring(update.complete ? told.get() : more.get());
        },
        {.execution_thread = watching});
    enum : std::uint64_t { is_found, is_over, is_told, is_more };
    os::Poller poller;
    poller.add(found, is_found);
    poller.add(detail::Borrowed(detail::over()).get(), is_over);
    poller.add(told, is_told);
    poller.add(more, is_more);
    std::array<os::Poller::Event, 4> events;
    const auto first = [&](std::size_t count) { return std::ranges::min(std::span(events).first(count), {}, &os::Poller::Event::key).key; };
    std::size_t count = 0;
    for (;; os::await_doorbell(more.get())) {
      const std::int64_t heard_by = os::later(os::now_ns(), time_to_hear);
      count = poller.wait(events, deadline ? std::optional(std::max(*deadline, heard_by)) : std::nullopt);
      if (count == 0) return false;
      if (first(count) == is_told) break;
      if (first(count) != is_more) return first(count) == is_found;
    }
    poller.remove(told);
    poller.remove(more);
    count = poller.wait(events, deadline);
    return count > 0 && first(count) == is_found;
  }

  const std::weak_ptr<sinew::Node> node_;
  std::mutex mutex_;
  std::deque<std::function<void()>> work_;  // guarded by mutex_
  sinew::Timer* timer_ = nullptr;           // guarded by mutex_
};

std::string full_name(const std::string& name, const std::string& name_space) {
  std::string full = name_space;
  while (full.starts_with('/')) full.erase(0, 1);
  while (full.ends_with('/')) full.pop_back();
  return full.empty() ? name : full + "/" + name;
}

}  // namespace

namespace detail {
ClientNode::~ClientNode() = default;
}  // namespace detail

struct Node::Impl {
  Impl(const std::string& name, const std::string& name_space, const NodeOptions& options) : rules(detail::rules()) {
    const auto executor = Executor::create({.by_caller = true});
    node = sinew::Node::create(full_name(rules.node_name.value_or(name), rules.name_space.value_or(name_space)), {.executor = executor});
    const std::size_t last = node->name().rfind('/');
    own_name = last == std::string::npos ? node->name() : node->name().substr(last + 1);
    own_space = last == std::string::npos ? "/" : "/" + node->name().substr(0, last);
    shown_name = "/" + node->name();
    spun = std::make_shared<detail::Spun>(shown_name, executor);
    for (const Parameter& each : options.parameter_overrides())
      rules.parameters.insert_or_assign(each.get_name(), each.get_parameter_value());
    const auto simulated = rules.parameters.find("use_sim_time");
    if (simulated != rules.parameters.end() && simulated->second != ParameterValue(false)) {
      throw Error(ErrorKind::invalid_argument, "parameter 'use_sim_time' of node '" + node->name() +
                                                   "': there is no time of a simulation, clocks show the machine's: leave it out");
    }
    parameters.emplace("use_sim_time", false);  // as every node of ROS has it
    for_clients = std::make_shared<ForClients>(node);
    posted = node->create_timer(std::chrono::nanoseconds(1), [clients = std::weak_ptr(for_clients)] {
      if (const auto still = clients.lock()) still->do_some();
    });
    for_clients->set(posted.get());
  }
  ~Impl() {
    if (sinew::detail::PublisherCore::in_forked_child()) return;  // whoever has the mutexes may not be there
    for_clients->set(nullptr);
    spun->node_goes();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  detail::Rules rules;
  std::shared_ptr<sinew::Node> node;
  std::shared_ptr<detail::Spun> spun;
  std::string own_name, own_space, shown_name;
  std::shared_ptr<ForClients> for_clients;
  std::shared_ptr<sinew::Timer> posted;

  std::mutex mutex;
  std::map<std::string, ParameterValue> parameters;  // declared ones; guarded by mutex
  std::shared_ptr<Node> unowned;                     // points to the node and does not keep it; null until somebody wants it; likewise
};

Node::Node(const std::string& name, const NodeOptions& options) : Node(name, "", options) {}

Node::Node(const std::string& name, const std::string& name_space, const NodeOptions& options)
    : impl_(std::make_unique<Impl>(name, name_space, options)), clock_(std::make_shared<Clock>(ClockType::ros)) {}

Node::~Node() = default;

std::shared_ptr<Node> Node::get_node_base_interface() {
  if (auto owned = weak_from_this().lock()) return owned;
  const std::lock_guard lock(impl_->mutex);
  // Not made of this, or it would be what shared_from_this() gives from then on.
  if (!impl_->unowned) impl_->unowned = std::shared_ptr<Node>(std::make_shared<bool>(), this);
  return impl_->unowned;
}

const char* Node::get_name() const noexcept {
  return impl_->own_name.c_str();
}

const char* Node::get_namespace() const noexcept {
  return impl_->own_space.c_str();
}

const char* Node::get_fully_qualified_name() const noexcept {
  return impl_->shown_name.c_str();
}

Logger Node::get_logger() const {
  std::string name = impl_->node->name();
  std::ranges::replace(name, '/', '.');
  return Logger(std::move(name));
}

const std::shared_ptr<detail::Spun>& detail::spun(const Node& node) noexcept {
  return node.impl_->spun;
}

sinew::Node& Node::sinew_node() const noexcept {
  return *impl_->node;
}

std::chrono::nanoseconds Node::native_period(std::chrono::nanoseconds period) const {
  if (period.count() < 0) {
    throw Error(ErrorKind::invalid_argument, "node '" + impl_->node->name() + "': a timer's period of " + std::to_string(period.count()) +
                                                 " ns is below 0: give one above it, or 0 for as often as it goes");
  }
  return std::max(period, std::chrono::nanoseconds(1));
}

std::string Node::resolve(const std::string& name) const {
  return detail::resolve(impl_->rules, name, impl_->node->name());
}

std::size_t Node::count_endpoints(const std::string& topic, bool publishers) const {
  const DomainState state = impl_->node->domain_state();
  const auto found = std::ranges::find(state.topics, resolve(topic), &DomainTopic::name);
  if (found == state.topics.end()) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      state.endpoints, [&](const DomainEndpoint& each) { return each.topic == found->id && each.publishes == publishers; }));
}

std::weak_ptr<detail::ClientNode> Node::client_node() const {
  return impl_->for_clients;
}

ParameterValue Node::declare(const std::string& name, ParameterValue value, bool must_be_given) {
  const auto given = impl_->rules.parameters.find(name);
  if (given != impl_->rules.parameters.end()) {
    value = detail::given_value(name, given->second, std::move(value));
  } else if (must_be_given) {
    throw Error(ErrorKind::invalid_argument, "parameter '" + name +
                                                 "' has no default and was given no value: start the program with --ros-args -p " + name +
                                                 ":=" + "VALUE, or declare it with a default");
  }
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->parameters.emplace(name, value).second)
    throw Error(ErrorKind::invalid_argument, "parameter '" + name + "' was declared before: declare it once, and then get it");
  return value;
}

bool Node::has_parameter(const std::string& name) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->parameters.contains(name);
}

Parameter Node::get_parameter(const std::string& name) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->parameters.find(name);
  if (found == impl_->parameters.end())
    throw Error(ErrorKind::invalid_argument, "parameter '" + name + "' is not declared: call declare_parameter() first");
  return {name, found->second};
}

}  // namespace sinew::rclcpp
