// Prints the size of a message that is as large with every standard library, and its layout, which is not the same: the number of the alternative
// has another size. Needs the headers only.
#include <cstdint>
#include <cstdio>
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
#include <variant>

struct Choice {
  std::uint32_t number = 0;
  std::variant<std::uint32_t, float> value;
};

int main() {
  constexpr auto message = sinew::msg::message<Choice>;
  std::printf("%zu %llu\n", sizeof(Choice), static_cast<unsigned long long>(message.layout));
}
