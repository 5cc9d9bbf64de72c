// Tries the memory orders of src/shm/ring.cpp and bell.cpp, which tools/orders.py compiles with checked::atomic in place of std::atomic and a ring of two entries: as they are, then each of them
// weakened. Prints a line for each; tools/orders.py says what is to be expected.
#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

#include "litmus.hpp"
#include "trials.hpp"

namespace sinew::shm {
namespace {

std::vector<Trial> all_trials() {
  std::vector<Trial> all = trials_of_claims();
  std::ranges::move(trials_of_waking(), std::back_inserter(all));
  return all;
}
std::vector<Trial> trials = all_trials();

std::vector<std::memory_order> weaker(const checked::Site& site) {
  using enum std::memory_order;
  if (site.order == acquire || site.order == release) return {relaxed};
  if (site.order == acq_rel) return {acquire, release};
  if (site.order != seq_cst) return {};
  if (site.kind == checked::Step::Kind::load) return {acquire, relaxed};
  if (site.kind == checked::Step::Kind::store) return {release, relaxed};
  return {acq_rel};
}

const char* name_of(std::memory_order order) {
  static constexpr const char* names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return names[static_cast<int>(order)];
}

std::string text_of(const checked::Site& site) {
  return site.file + ' ' + std::to_string(site.line) + ':' + std::to_string(site.column);
}
std::string text_of(const checked::Weakening& weakening) {
  return text_of(weakening.site) + ' ' + name_of(weakening.order);
}

std::string found_by(const std::vector<checked::Weakening>& weakened) {
  for (const Trial& trial : trials) {
    if (std::ranges::none_of(weakened, [&](const auto& each) { return trial.sites.contains(each.site); })) continue;
    if (const auto report = trial.run(weakened); !report.failure.empty()) return std::string(trial.name) + ": " + report.failure;
  }
  return "-";
}

void try_all() {
  std::set<checked::Site> sites;
  for (Trial& trial : trials) {
    checked::Report report = trial.run({});
    std::cout << "trial " << trial.name << ' ' << report.graphs << ' ' << (report.failure.empty() ? "-" : report.failure) << std::endl;
    trial.sites = std::move(report.sites);
    sites.insert(trial.sites.begin(), trial.sites.end());
  }
  std::vector<checked::Weakening> harmless;
  for (const checked::Site& site : sites) {
    if (site.file.ends_with("trials.cpp") || site.file == "trials.hpp") continue;
    std::cout << "reached " << text_of(site) << '\n';
    for (const std::memory_order order : weaker(site)) {
      const checked::Weakening one{site, order};
      const std::string found = found_by({one});
      std::cout << "weakened " << text_of(one) << ' ' << found << std::endl;
      if (found == "-") harmless.push_back(one);
    }
  }
  // An order that alone is not needed may be needed as soon as another is weaker, too.
  for (std::size_t i = 0; i < harmless.size(); ++i) {
    for (std::size_t j = i + 1; j < harmless.size(); ++j) {
      if (harmless[i].site == harmless[j].site) continue;
      if (const std::string found = found_by({harmless[i], harmless[j]}); found != "-") {
        std::cout << "both " << text_of(harmless[i]) << ' ' << text_of(harmless[j]) << ' ' << found << std::endl;
      }
    }
  }
}

int try_some(const std::vector<std::string_view>& names) {
  int failed = 0;
  for (const std::string_view name : names) {
    const auto trial = std::ranges::find(trials, name, &Trial::name);
    if (trial == trials.end()) {
      std::cout << "there is no trial " << name << '\n';
      return 2;
    }
    const std::string failure = trial->run({}).failure;
    std::cout << name << ": " << (failure.empty() ? "holds" : failure) << '\n';
    failed += failure.empty() ? 0 : 1;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sinew::shm

int main(int count, char** arguments) {
  if (count > 1) return sinew::shm::try_some({arguments + 1, arguments + count});
  checked::try_litmus();
  sinew::shm::try_all();
}
