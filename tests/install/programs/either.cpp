// Sends or receives messages of every kind of member, whichever standard library it is built with, and says how they arrived.
//   either send COUNT          waits for a receiver, and for its end
//   either receive COUNT
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sinew/sinew.hpp>

namespace crew {

struct Part {
  std::string label;
  std::optional<std::string> note;
  std::vector<bool> bits;
  friend bool operator==(const Part&, const Part&) = default;
};

struct Letter {
  std::uint32_t number = 0;
  std::string brief, middling, text;
  std::vector<std::uint8_t> data;
  std::vector<Part> parts;
  std::array<std::vector<double>, 2> curves;
  std::vector<std::string> words;
  std::optional<Part> extra;
  bool last = false;
  friend bool operator==(const Letter&, const Letter&) = default;
};

void fill(Letter& letter, std::uint32_t number) {
  letter.number = number;
  letter.brief = "brief";
  letter.middling = "between 15 and 22 long";
  letter.text.assign(number * 100, 't');
  letter.data.assign(number * 1000, static_cast<std::uint8_t>(number));
  letter.parts.resize(number % 4);
  for (Part& part : letter.parts) {
    part.label = "a label that fits into no small string";
    part.note = part.label;
    part.bits.assign(70 + number, number % 2 == 1);
  }
  letter.curves[1].assign(number * 600, 0.5);
  letter.words.assign(number, "word");
  if (number % 2 == 0) letter.extra = Part{"extra", std::nullopt, {true, false}};
  letter.last = true;
}

}  // namespace crew

using crew::Letter;

template <class Condition>
bool wait_for(Condition condition) {
  for (int i = 0; i < 60'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

int send(std::uint32_t count) {
  auto node = sinew::Node::create("sender");
  auto publisher = node->create_publisher<Letter>("letters", sinew::Qos{}.keep_all().reliable());
  if (!wait_for([&] { return publisher->statistics().subscribers == 1; })) return 1;
  for (std::uint32_t number = 1; number <= count; ++number) {
    if (number % 2 == 0) {  // built outside, and copied
      Letter letter;
      crew::fill(letter, number);
      if (publisher->publish(letter) != sinew::PublishResult::published) return 1;
    } else {
      auto loan = publisher->loan();
      loan.build([&](Letter& letter) { crew::fill(letter, number); });
      loan->text.shrink_to_fit();
      if (publisher->publish(std::move(loan)) != sinew::PublishResult::published) return 1;
    }
  }
  return wait_for([&] { return publisher->statistics().subscribers == 0; }) ? 0 : 1;
}

int receive(std::uint32_t count) {
  auto node = sinew::Node::create("receiver");
  auto subscriber = node->create_subscriber<Letter>("letters", sinew::Qos{}.keep_all().reliable());
  std::map<std::string, int> deliveries;
  for (std::uint32_t number = 1; number <= count; ++number) {
    std::shared_ptr<const Letter> letter;
    sinew::MessageInfo info;
    if (!wait_for([&] { return (letter = subscriber->take(&info)) != nullptr; })) return 1;
    Letter expected;
    crew::fill(expected, number);
    if (*letter != expected) {
      std::printf("letter %u differs\n", number);
      return 1;
    }
    ++deliveries[to_string(info.delivery)];
  }
  for (const auto& [delivery, messages] : deliveries) std::printf("%s=%d\n", delivery.c_str(), messages);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto count = static_cast<std::uint32_t>(std::atoi(argv[2]));
  return std::string_view(argv[1]) == "send" ? send(count) : receive(count);
}
