// sinew-bench-serialization: measures writing, reading and opening of messages by sinew and by others, and prints a line of JSON for each.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "awake.hpp"
#include "percentile.hpp"
#include "serialization/operations.hpp"

namespace {

using namespace sinew::bench;

struct Wanted {
  std::vector<std::string> messages, systems;  ///< Empty: all.
  std::uint64_t rounds = 200;
};

bool is_wanted(const std::vector<std::string>& wanted, std::string_view name) {
  return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
}

void print_row(std::string_view message, Operation& operation, bool awake) {
  std::ranges::sort(operation.times);
  const nlohmann::json row = {{"experiment", "serialization"},
                              {"message", message},
                              {"system", operation.system},
                              {"operation", operation.name},
                              {"bytes", operation.bytes},
                              {"p50_us", percentile(operation.times, 0.5) / 1000},
                              {"p99_us", percentile(operation.times, 0.99) / 1000},
                              {"count", operation.times.size()},
                              {"awake", awake}};
  std::printf("%s\n", row.dump().c_str());
}

template <class T>
void measure(std::string_view name, const T& message, const Batches& batches, const Wanted& wanted, bool awake) {
  std::vector<Operation> operations;
  each_system<T>([&]<class System>() {
    if (is_wanted(wanted.systems, System::name)) add_operations<System>(message, batches, operations);
  });
  time_in_turns(operations, wanted.rounds);
  for (Operation& operation : operations) print_row(name, operation, awake);
  std::fflush(stdout);
}

struct Message {
  std::string_view name, help;
  void (*measure)(std::string_view name, const Wanted& wanted, bool awake);
};

template <auto make, std::uint64_t of_whole, std::uint64_t of_opened>
void measure_made(std::string_view name, const Wanted& wanted, bool awake) {
  measure(name, make(), {of_whole, of_opened}, wanted, awake);
}

constexpr Message messages[] = {
    {"image", "1920 x 1080 rgb8, 6.2 MB in one array", measure_made<make_full_hd, 1, 1000>},
    {"cloud", "100,000 points of 32 bytes, in one array", measure_made<make_turn, 1, 1000>},
    {"imu", "39 numbers and a string", measure_made<make_imu, 1000, 1000>},
    {"map", "10,000 keys and values of about 25 characters each", measure_made<make_map, 1, 1>},
};

std::string footer() {
  std::string text = "Messages:\n";
  for (const Message& message : messages) {
    std::string name(message.name);
    name.resize(8, ' ');
    text += "  " + name + std::string(message.help) + "\n";
  }
  text += "\nSystems of this build:";
  each_system<TextMap>([&]<class System>() { text += " " + std::string(System::name); });
  return text +
         "\n\nExamples:\n"
         "  sinew-bench-serialization\n"
         "  sinew-bench-serialization --message imu --message map\n"
         "  sinew-bench-serialization --message image --system sinew --system fastcdr --rounds 1000";
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  std::vector<std::string> message_names, system_names;
  for (const Message& message : messages) message_names.emplace_back(message.name);
  each_system<TextMap>([&]<class System>() { system_names.emplace_back(System::name); });

  CLI::App app{
      "Measures in this process what it takes to write a message (from an object to bytes), to read it (from bytes to a new object) and to "
      "open it (to check "
      "it and look at it where it lies), by sinew and by other formats: a batch of each in every round, in random order."};
  app.footer(footer());
  app.add_option("--message", wanted.messages, "Only this one; may be given more than once")->check(CLI::IsMember(message_names));
  app.add_option("--system", wanted.systems, "Only this one; may be given more than once")->check(CLI::IsMember(system_names));
  app.add_option("--rounds", wanted.rounds, "Batches of each")->check(CLI::Range(1ul, 1'000'000ul))->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  try {
    const Awake awake;
    for (const Message& message : messages) {
      if (is_wanted(wanted.messages, message.name)) message.measure(message.name, wanted, awake.granted());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinew-bench-serialization: %s\n", error.what());
    return 1;
  }
  return 0;
}
