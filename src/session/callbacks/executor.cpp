#include "session/callbacks/executor.hpp"

#include <string>
#include <utility>

#include "os/thread.hpp"
#include "session/fork.hpp"
#include "sinew/error.hpp"

namespace sinew::session {
namespace {

constexpr unsigned most_threads = 1024;
constexpr std::size_t longest_name = 15;
constexpr int highest_priority = 99;

[[noreturn]] void refuse(unsigned id, const std::string& why) {
  throw Error(ErrorKind::invalid_argument, "execution thread " + std::to_string(id) + ": " + why);
}

void check_id(unsigned id) {
  if (id >= most_threads) refuse(id, "ids go from 0 to " + std::to_string(most_threads - 1));
}

void check(unsigned id, const ThreadOptions& options) {
  check_id(id);
  if (options.name.size() > longest_name) {
    refuse(id, "the name '" + options.name + "' has " + std::to_string(options.name.size()) + " bytes; the system keeps " +
                   std::to_string(longest_name));
  }
  if (options.scheduling == Scheduling::other) {
    if (options.priority != 0) refuse(id, "priority " + std::to_string(options.priority) + " needs Scheduling::fifo or round_robin");
  } else if (options.priority < 1 || options.priority > highest_priority) {
    refuse(id, "priority " + std::to_string(options.priority) + " is out of range, 1 to " + std::to_string(highest_priority));
  }
  for (const unsigned cpu : options.cpus) {
    if (cpu >= os::most_cpus) refuse(id, "core " + std::to_string(cpu) + " is out of range, 0 to " + std::to_string(os::most_cpus - 1));
  }
  if (options.spin.count() < 0) refuse(id, "a spin time of " + std::to_string(options.spin.count()) + " ns is out of range, 0 or more");
}

const ThreadOptions& find(const std::map<unsigned, ThreadOptions>& all, unsigned id) {
  static const ThreadOptions usual;
  const auto found = all.find(id);
  return found == all.end() ? usual : found->second;
}

std::shared_ptr<ExecutionThread> make(const std::map<unsigned, ThreadOptions>& all, unsigned id) {
  ThreadOptions options = find(all, id);
  if (options.name.empty()) options.name = "sinew-run";
  return std::make_shared<ExecutionThread>(std::move(options));
}

}  // namespace

Executor::Executor(Options options) : options_(std::move(options)), for_caller_(options_.by_caller ? make(options_.threads, 0) : nullptr) {
  for (const auto& [id, wanted] : options_.threads) check(id, wanted);
  const ThreadOptions& first = find(options_.threads, 0);
  if (for_caller_ && (!first.name.empty() || first.scheduling != Scheduling::other || !first.cpus.empty())) {
    refuse(0, "it is the caller's own, who names it and schedules it; only its spin time can be given");
  }
}

Executor::~Executor() {
  if (for_caller_) for_caller_->stop();
  for (const auto& [id, thread] : threads_) thread->stop();
}

std::shared_ptr<ExecutionThread> Executor::thread(unsigned id) {
  check_id(id);
  if (id == 0 && for_caller_) return for_caller_;
  const std::lock_guard lock(mutex_);
  if (const auto found = threads_.find(id); found != threads_.end()) return found->second;
  const auto entry = threads_.emplace(id, make(options_.threads, id)).first;
  try {
    entry->second->start();
  } catch (...) {
    threads_.erase(entry);
    throw;
  }
  return entry->second;
}

std::shared_ptr<ExecutionThread> Executor::for_caller() {
  if (!for_caller_) {
    throw Error(ErrorKind::invalid_argument,
                "callbacks run on a thread of the library's; to run them here, create the node with "
                "NodeOptions{.executor = Executor::create({.by_caller = true})}");
  }
  if (for_caller_->is_inside()) throw Error(ErrorKind::invalid_argument, "this is called from a callback of the same executor");
  return for_caller_;
}

void Executor::leave() noexcept {
  if (for_caller_) for_caller_->leave();
}

}  // namespace sinew::session
