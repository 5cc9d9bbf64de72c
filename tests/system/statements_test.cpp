// How messages are built: which statements build them in place, and which are copied in at publish.
#include <stdexcept>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wbraced-scalar-init"  // one of the statements is to be exactly so
#endif

namespace workshop {

struct Part {
  std::uint32_t id;
  std::string name;
};
struct Assembly {
  Part head;
  std::string text;
  std::vector<std::uint32_t> numbers;
  std::vector<Part> parts;
};

inline bool operator==(const Part& a, const Part& b) {
  return a.id == b.id && a.name == b.name;
}
inline bool operator==(const Assembly& a, const Assembly& b) {
  return a.head == b.head && a.text == b.text && a.numbers == b.numbers && a.parts == b.parts;
}

}  // namespace workshop

namespace sinew::system {
namespace {

using workshop::Assembly;
using workshop::Part;

const char* const long_text = "a text that is longer than any small string holds";
std::vector<std::uint32_t> make_numbers() {
  return std::vector<std::uint32_t>(100, 7);
}
void grow(std::vector<std::uint32_t>& numbers) {
  numbers.resize(100, 7);
}
void grow_all(Assembly& assembly) {
  assembly.numbers.resize(100, 7);
}

struct Statement {
  const char* text;
  bool in_place;
  void (*run)(Loan<Assembly>& l);
  Assembly expected;
};

const std::string another = long_text;
const Assembly numbers{.head = {}, .text = {}, .numbers = std::vector<std::uint32_t>(100, 7), .parts = {}};
const Assembly text{.head = {}, .text = long_text, .numbers = {}, .parts = {}};
const Assembly head{.head = {1, long_text}, .text = {}, .numbers = {}, .parts = {}};

const std::vector<Statement>& statements() {
  static const std::vector<Statement> all = {
      {"l->numbers.resize(n)", true, [](Loan<Assembly>& l) { l->numbers.resize(100, 7); }, numbers},
      {"l->numbers.assign({..})", true, [](Loan<Assembly>& l) { l->numbers.assign({1, 2, 3}); }, {{}, {}, {1, 2, 3}, {}}},
      {"l->numbers = {1, 2, 3}", true, [](Loan<Assembly>& l) { l->numbers = {1, 2, 3}; }, {{}, {}, {1, 2, 3}, {}}},
      {"l->text = \"long\"", true, [](Loan<Assembly>& l) { l->text = long_text; }, text},
      {"l->text = other", true, [](Loan<Assembly>& l) { l->text = another; }, text},
      {"l->text = {p}", true, [](Loan<Assembly>& l) { l->text = {long_text}; }, text},
      {"l->text.append(..)", true, [](Loan<Assembly>& l) { l->text.append(long_text); }, text},
      {"l->parts.push_back({1, \"long\"})",
       true,
       [](Loan<Assembly>& l) { l->parts.push_back({1, long_text}); },
       {{}, {}, {}, {{1, long_text}}}},
      {"f(l->numbers)", true, [](Loan<Assembly>& l) { grow(l->numbers); }, numbers},
      {"while (l->..) l->numbers.push_back(..)", true,
       [](Loan<Assembly>& l) {
         while (l->numbers.size() < 100) l->numbers.push_back(7);
       },
       numbers},
      {"l.build(..)", true, [](Loan<Assembly>& l) { l.build([](Assembly& assembly) { assembly = Assembly{{1, long_text}, {}, {}, {}}; }); },
       head},
      {"l->head = {1, \"long\"}", false, [](Loan<Assembly>& l) { l->head = {1, long_text}; }, head},
      {"l->head = Part{..}", false, [](Loan<Assembly>& l) { l->head = Part{1, long_text}; }, head},
      {"l->text = std::string(..)", false, [](Loan<Assembly>& l) { l->text = std::string(long_text); }, text},
      {"l->text = a + b", false, [](Loan<Assembly>& l) { l->text = another + another; }, {{}, another + another, {}, {}}},
      {"l->numbers = make_numbers()", false, [](Loan<Assembly>& l) { l->numbers = make_numbers(); }, numbers},
      {"(*l).numbers.resize(n)", false, [](Loan<Assembly>& l) { (*l).numbers.resize(100, 7); }, numbers},
      {"f(*l)", false, [](Loan<Assembly>& l) { grow_all(*l); }, numbers},
      {"auto& d = l->numbers; d.resize(n)", false,
       [](Loan<Assembly>& l) {
         auto& d = l->numbers;
         d.resize(100, 7);
       },
       numbers},
      {"if (auto n = l->numbers.size(); ..) ..", false,
       [](Loan<Assembly>& l) {
         if (auto n = l->numbers.size(); n == 0) (*l).numbers.resize(100, 7);
       },
       numbers},
      {"for (auto& part : l->parts) ..",
       false,
       [](Loan<Assembly>& l) {
         l->parts.resize(2);
         for (auto& part : l->parts) part.name = long_text;
       },
       {{}, {}, {}, {{0, long_text}, {0, long_text}}}},
  };
  return all;
}

class Statements : public Domain {};

TEST_F(Statements, S13_every_way_to_fill_a_loan_arrives_right_and_is_counted_as_documented) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Assembly>("topic");
  auto subscriber = node->create_subscriber<Assembly>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  for (const Statement& statement : statements()) {
    const PublisherStatistics before = publisher->statistics();
    auto loan = publisher->loan();
    statement.run(loan);
    ASSERT_EQ(publisher->publish(std::move(loan)), PublishResult::published) << statement.text;
    const auto message = take_soon(*subscriber);
    ASSERT_TRUE(message) << statement.text;
    EXPECT_TRUE(*message == statement.expected) << statement.text;
    const PublisherStatistics after = publisher->statistics();
    EXPECT_EQ(after.bytes_copied == before.bytes_copied, statement.in_place) << statement.text;
    EXPECT_EQ(after.messages_repaired - before.messages_repaired, statement.in_place ? 0U : 1U) << statement.text;
  }
}

ROLE(careless_publisher) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Assembly>("topic");
  auto subscriber = node->create_subscriber<Assembly>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  for (int i = 0; i < 3; ++i) {
    auto loan = publisher->loan();
    loan->numbers = make_numbers();
    publisher->publish(std::move(loan));
  }
}

TEST_F(Statements, S13_the_first_field_that_was_built_outside_is_named_once) {
  Child child("careless_publisher", {}, {{"SINEW_LOG", "warn"}});
  child.end();
  const std::string said = child.errors();
  EXPECT_NE(said.find("field 'numbers'"), std::string::npos) << said;
  EXPECT_EQ(said.find("field", said.find("field") + 1), std::string::npos) << said;
}

TEST_F(Statements, S13_scopes_nest_and_end_where_they_began) {
  auto node = Node::create("node");
  auto one = node->create_publisher<Assembly>("one"), two = node->create_publisher<Assembly>("two");
  auto of_one = node->create_subscriber<Assembly>("one", Qos{}, as_from_elsewhere());
  auto of_two = node->create_subscriber<Assembly>("two", Qos{}, as_from_elsewhere());
  await_subscribers(*one, 1);
  await_subscribers(*two, 1);
  auto first = one->loan();
  auto second = two->loan();
  first.build([&](Assembly& outer) {
    outer.text = long_text;
    second.build([&](Assembly& inner) {
      inner.text = long_text;
      outer.numbers.resize(100);  // in the window of the other publisher
    });
    outer.parts.resize(3);
  });
  try {
    first.build([](Assembly&) { throw std::runtime_error("in the middle"); });
  } catch (const std::runtime_error&) {
  }
  std::string outside(1000, 'x');  // on the heap again: else freeing it after the publishers would count as theirs
  EXPECT_EQ(one->publish(std::move(first)), PublishResult::published);
  EXPECT_EQ(two->publish(std::move(second)), PublishResult::published);
  EXPECT_EQ(two->statistics().bytes_copied, 0U);
  EXPECT_EQ(one->statistics().bytes_copied, 100 * sizeof(std::uint32_t)) << "only what lies in the other window";
  const std::uint64_t in_use = one->statistics().memory_in_use;
  outside.append(10'000, 'y');
  EXPECT_EQ(one->statistics().memory_in_use, in_use);
}

}  // namespace
}  // namespace sinew::system
