#include "tests/faults/walk.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <thread>

#include "sinew/sinew.hpp"
#include "tests/faults/errors.hpp"
#include "tests/system/belongings.hpp"

namespace sinew::system {
namespace {

using os::fault::Call;

constexpr int calls = static_cast<int>(Call::count_of_calls);
// Far more than any operation makes: one that never ends would be walked for ever.
constexpr int most_calls = 400;

// What is being walked, for who reads why the program died.
std::array<char, 256> place{};

extern "C" void tell_place(int signal) {
  const ssize_t ignored = ::write(STDERR_FILENO, place.data(), std::strlen(place.data()));
  static_cast<void>(ignored);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void name_place(const std::string& text) {
  std::snprintf(place.data(), place.size(), "died in: %s\n", text.c_str());
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) {
    if constexpr (!sanitized) ::signal(signal, tell_place);
  }
}

/// What was walked in this process, for the report.
class Totals {
 public:
  void add(const std::string& operation, const Fault& fault, int error, bool is_noticed, bool is_left) {
    ++operations_[operation];
    Tried& tried = faults_[std::string(name_of(fault.call())) + " fails with " + name_of_error(error)];
    ++tried.times;
    tried.noticed += is_noticed ? 1 : 0;
    tried.left += is_left ? 1 : 0;
    ++(fault.was_told() ? told_ : borne_);
  }
  Totals() = default;
  Totals(const Totals&) = delete;
  Totals& operator=(const Totals&) = delete;
  ~Totals() {
    if (faults_.empty()) return;
    std::cout << "walked " << told_ + borne_ << " faults: " << operations_.size() << " operations, " << faults_.size()
              << " (call, error); told of as an error: " << told_ << ", borne: " << borne_ << "\n";
    for (const auto& [fault, tried] : faults_) report({fault, tried.times, tried.noticed, tried.left});
  }

 private:
  std::map<std::string, int> operations_;
  std::map<std::string, Tried> faults_;
  int told_ = 0, borne_ = 0;
};

Totals& totals() {
  static Totals all;
  return all;
}

struct Everything {
  Belongings here;
  std::vector<std::pair<std::size_t, std::size_t>> elsewhere;
  /// Nothing is left of what came after `before`. Others may have less: a publisher that has not published for two seconds keeps its largest chunk alone.
  bool is_back_at(const Everything& before) const {
    return here == before.here && std::ranges::equal(elsewhere, before.elsewhere, [](const auto& now, const auto& then) {
             return now.first <= then.first && now.second <= then.second;
           });
  }
  friend bool operator==(const Everything&, const Everything&) = default;
  friend std::ostream& operator<<(std::ostream& to, const Everything& all) {
    to << all.here;
    for (const auto& [descriptors, mappings] : all.elsewhere) to << "; elsewhere " << descriptors << " and " << mappings;
    return to;
  }
  static Everything of(const std::vector<const Child*>& others) {
    Everything all{Belongings::now(), {}};
    for (const Child* other : others) all.elsewhere.emplace_back(other->descriptors(), other->mappings());
    return all;
  }
};

std::vector<int> passed_here() {
  std::vector<int> counts;
  for (int call = 0; call < calls; ++call) counts.push_back(os::fault::passed(static_cast<Call>(call)));
  return counts;
}

void expect_sentence(const std::string& text) {
  EXPECT_GT(text.size(), 20U) << "a sentence: " << text;
}

}  // namespace

// --- one fault ---------------------------------------------------------------------------------------------------------------------

bool Fault::during(const std::function<void()>& operation) {
  arm();
  try {
    operation();
  } catch (const Error& error) {
    told_ = true;
    expect_sentence(error.what());
  } catch (const ServiceError& error) {
    told_ = true;
    expect_sentence(error.what());
  }
  counts_ = disarm();
  reached_ = nth_ > 0 && counts_.at(static_cast<std::size_t>(call_)) >= nth_;
  if (!reached_) {
    EXPECT_FALSE(told_) << "it fails without a fault";
  }
  return !told_;
}

void Fault::await(const std::function<bool()>& condition) const {
  EXPECT_TRUE(eventually([&] { return condition() || happened(); })) << "without a fault it must come to be";
}

bool Fault::happened() const {
  return nth_ > 0 && os::fault::passed(call_) >= nth_;
}

void Fault::arm() {
  if (is_none()) return os::fault::disarm();  // which counts from zero
  os::fault::arm(call_, nth_, error_);
}

std::vector<int> Fault::disarm() {
  std::vector<int> counts = passed_here();
  os::fault::disarm();
  return counts;
}

bool FaultIn::happened() const {
  if (is_none()) return false;
  process_.order("passed");
  std::istringstream counts(process_.line().value_or(""));
  int count = 0;
  for (int call = 0; call <= static_cast<int>(this->call()); ++call) counts >> count;
  return count >= nth();
}

void FaultIn::arm() {
  process_.order("arm " + std::to_string(static_cast<int>(call())) + " " + std::to_string(nth()) + " " + std::to_string(error()));
  process_.expect("armed");
}

std::vector<int> FaultIn::disarm() {
  process_.order("disarm");
  std::istringstream text(process_.line().value_or(""));
  std::vector<int> counts(calls);
  for (int& count : counts) text >> count;
  return counts;
}

bool obey_faults(const std::string& order) {
  std::istringstream words(order);
  std::string what;
  int call = 0, nth = 0, error = 0;
  words >> what >> call >> nth >> error;
  if (what == "arm") {
    nth > 0 ? os::fault::arm(static_cast<Call>(call), nth, error) : os::fault::disarm();
    say("armed");
    return true;
  }
  if (what != "passed" && what != "disarm") return false;
  std::string counts;
  for (const int count : passed_here()) counts += std::to_string(count) + " ";
  if (what == "disarm") os::fault::disarm();
  say(counts);
  return true;
}

// --- all of them -------------------------------------------------------------------------------------------------------------------

namespace {

using Make = std::function<std::unique_ptr<Fault>(Call, int error, int nth)>;

void walk_with(const Make& make, const std::string& operation, const Scenario& scenario, const std::vector<const Child*>& others) {
  const bool all_of_them = is_report_wanted();
  const auto run = [&](Call call, int error, int nth) {
    auto fault = make(call, error, nth);
    try {
      scenario(*fault);
    } catch (const std::exception& thrown) {
      ADD_FAILURE() << "it throws: " << thrown.what();
    }
    return fault;
  };
  name_place(operation);
  auto counts = run({}, 0, 0)->counts();  // what is made once per process is made now
  for (int more = 0; more < 2; ++more) {  // some calls are not made every time
    std::ranges::transform(counts, run({}, 0, 0)->counts(), counts.begin(), [](int one, int other) { return std::max(one, other); });
  }
  if (::testing::Test::HasFailure()) return;
  const Everything before = settled([&] { return Everything::of(others); });
  const auto is_as_before = [&] {
    for (int attempt = 0; attempt < 60; ++attempt) {
      for (int look = 0; look < 100; ++look) {
        if (Everything::of(others).is_back_at(before)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      run({}, 0, 0);  // a publisher gives a chunk back when it publishes again
    }
    return false;
  };
  for (int each = 0; each < calls; ++each) {
    const auto call = static_cast<Call>(each);
    if (counts.at(static_cast<std::size_t>(each)) == 0) continue;
    auto errors = plausible_errors(call);
    if (sanitized) errors = errors.first(1);
    for (const int error : errors) {
      const bool is_likeliest = error == errors.front();
      // The first calls differ most from each other.
      const auto next = [&](int nth) { return all_of_them || (is_likeliest && !sanitized) ? nth + 1 : nth + 1 + nth / 3; };
      for (int nth = 1; nth < most_calls; nth = next(nth)) {
        const std::string where = operation + ": " + name_of(call) + " number " + std::to_string(nth) + " with " + name_of_error(error);
        SCOPED_TRACE(where);
        name_place(where);
        const auto fault = run(call, error, nth);
        const bool is_noticed = ::testing::Test::HasFailure(), is_left = !is_as_before();
        EXPECT_FALSE(is_left) << "it leaks: " << Everything::of(others) << "; before " << before;
        if (!fault->was_reached() && !::testing::Test::HasFailure()) break;
        totals().add(operation, *fault, error, is_noticed, is_left);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace

void walk(const std::string& operation, const Scenario& scenario, const std::vector<const Child*>& others) {
  walk_with([](Call call, int error, int nth) { return std::make_unique<Fault>(call, error, nth); }, operation, scenario, others);
}

void walk_in(Child& process, const std::string& operation, const Scenario& scenario, const std::vector<const Child*>& others) {
  walk_with([&](Call call, int error, int nth) { return std::make_unique<FaultIn>(process, call, error, nth); }, operation, scenario,
            others);
}

}  // namespace sinew::system
