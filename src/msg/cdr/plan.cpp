#include "msg/cdr/plan.hpp"

#include <algorithm>
#include <map>

#include "sinew/msg/kind.hpp"

namespace sinew::msg::cdr {
namespace {

/// Side by side: numbers of `width` bytes.
struct Numbers {
  std::uint8_t width = 0;  // 0: something else
  std::uint64_t count = 0;
  bool flags = false;
};

Numbers numbers_in(const Type& type) {
  switch (type.kind) {
    case Kind::enumeration:
      return numbers_in(*type.element);
    case Kind::array: {
      Numbers numbers = numbers_in(*type.element);
      numbers.count *= type.count;
      return numbers;
    }
    case Kind::string:
    case Kind::vector:
    case Kind::bit_vector:
    case Kind::optional:
    case Kind::structure:
    case Kind::text_view:
    case Kind::view:
    case Kind::variant:
    case Kind::map:
      break;
    case Kind::boolean:
    case Kind::int8:
    case Kind::int16:
    case Kind::int32:
    case Kind::int64:
    case Kind::uint8:
    case Kind::uint16:
    case Kind::uint32:
    case Kind::uint64:
    case Kind::float32:
    case Kind::float64:
      return {static_cast<std::uint8_t>(type.size), 1, type.kind == Kind::boolean};
  }
  return {};
}

/// What is known of the position in the stream: position % modulus == rest.
struct Known {
  std::uint8_t modulus, rest;
};
constexpr Known at_start = {8, 0}, anywhere = {1, 0};

class Compiler {
 public:
  explicit Compiler(bool swapped) : swapped_(swapped) {}

  std::vector<Plan> plans = std::vector<Plan>(1);

  Plan plan_of(const Type& type, Known known) {
    Draft draft{{}, known};
    add(draft, type, 0);
    Plan& plan = draft.plan;
    plan.size = type.size;
    plan.only_numbers = std::ranges::all_of(plan.steps, [](const Step& step) { return step.action == Step::Action::numbers; });
    return std::move(plan);
  }

 private:
  struct Draft {
    Plan plan;
    Known known;
  };

  std::uint32_t body_of(const Type& type) {
    if (const auto found = bodies_.find(&type); found != bodies_.end()) return found->second;
    Plan plan = plan_of(type, anywhere);
    const Plan aligned = plan_of(type, at_start);
    plan.plain = aligned.steps.size() == 1 && aligned.only_numbers && aligned.steps[0].offset == 0 && aligned.steps[0].size == type.size;
    const auto index = static_cast<std::uint32_t>(plans.size());
    bodies_[&type] = index;
    plans.push_back(std::move(plan));
    return index;
  }

  static void widen(Plan& plan, std::uint8_t alignment) {
    if (plan.steps.empty()) plan.first = alignment;
    plan.widest = std::max(plan.widest, alignment);
  }

  void add(Draft& draft, const Type& type, std::uint64_t offset) {
    using enum Step::Action;
    if (const Numbers numbers = numbers_in(type); numbers.width != 0) return add_numbers(draft, numbers, offset);
    switch (type.kind) {
      case Kind::structure:
        for (const Field& field : type.fields) add(draft, *field.type, offset + field.offset);
        return;
      case Kind::array:
        return add_array(draft, type, offset);
      case Kind::string:
        return add_counted(draft, text, type, offset);
      case Kind::bit_vector:
        return add_counted(draft, bits, type, offset);
      case Kind::vector:
        return add_counted(draft, sequence, type, offset);
      case Kind::text_view:
        return add_counted(draft, text_view, type, offset);
      case Kind::view:
        return add_counted(draft, view, type, offset);
      case Kind::variant:
        return add_variant(draft, type, offset);
      case Kind::map:
        return add_counted(draft, map, type, offset);
      case Kind::optional:
        return add_counted(draft, optional, type, offset);
      case Kind::boolean:
      case Kind::int8:
      case Kind::int16:
      case Kind::int32:
      case Kind::int64:
      case Kind::uint8:
      case Kind::uint16:
      case Kind::uint32:
      case Kind::uint64:
      case Kind::float32:
      case Kind::float64:
      case Kind::enumeration:
        return;  // numbers, which numbers_in() knows
    }
  }

  void add_variant(Draft& draft, const Type& type, std::uint64_t offset) {
    add_counted(draft, Step::Action::variant, type, offset);
    draft.plan.steps.back().body = choice_of(type);
    draft.plan.least += plans[choice_of(type)].least;
  }

  std::uint32_t choice_of(const Type& type) {
    if (const auto found = choices_.find(&type); found != choices_.end()) return found->second;
    Plan choice;
    choice.least = UINT64_MAX;
    for (const Field& alternative : type.fields) {
      choice.alternatives.push_back(body_of(*alternative.type));
      choice.least = std::min(choice.least, plans[choice.alternatives.back()].least);
    }
    const auto index = static_cast<std::uint32_t>(plans.size());
    choices_[&type] = index;
    plans.push_back(std::move(choice));
    return index;
  }

  void add_counted(Draft& draft, Step::Action action, const Type& type, std::uint64_t offset) {
    Step step{.action = action, .alignment = 4, .body = 0, .offset = offset, .size = 0, .count = 0, .type = &type};
    if (has_element(type.kind)) {
      step.body = body_of(*type.element);
      step.size = type.element->size;
    }
    widen(draft.plan, step.alignment);
    draft.plan.steps.push_back(step);
    draft.plan.least += 4;
    draft.known = anywhere;
  }

  void add_array(Draft& draft, const Type& type, std::uint64_t offset) {
    if (type.count == 0) return;
    const std::uint32_t index = body_of(*type.element);
    const Plan& body = plans[index];
    widen(draft.plan, body.first);
    draft.plan.widest = std::max(draft.plan.widest, body.widest);
    draft.plan.steps.push_back({.action = Step::Action::repeat,
                                .alignment = body.first,
                                .body = index,
                                .offset = offset,
                                .size = body.size,
                                .count = type.count,
                                .type = &type});
    draft.plan.least += body.least * type.count;
    draft.known = anywhere;
  }

  // One step with what stands before it, when nothing stands between them, neither in memory nor in the stream.
  void add_numbers(Draft& draft, const Numbers& numbers, std::uint64_t offset) {
    const std::uint64_t bytes = numbers.width * numbers.count;
    if (bytes == 0) return;
    auto& [plan, known] = draft;
    widen(plan, numbers.width);
    plan.least += bytes;
    if (numbers.flags) plan.flags.push_back({offset, numbers.count});
    const bool can_tell = numbers.width <= known.modulus;
    const bool touches = can_tell && known.rest % numbers.width == 0;
    Step* const last = plan.steps.empty() ? nullptr : &plan.steps.back();
    if (touches && last && last->action == Step::Action::numbers && last->offset + last->size == offset &&
        (!swapped_ || last->alignment == numbers.width)) {
      last->size += bytes;
    } else {
      plan.steps.push_back({.action = Step::Action::numbers,
                            .alignment = numbers.width,
                            .body = 0,
                            .offset = offset,
                            .size = bytes,
                            .count = 0,
                            .type = nullptr});
    }
    if (!can_tell) {
      known = {numbers.width, 0};
    } else if (!touches) {
      known.rest = static_cast<std::uint8_t>((known.rest + numbers.width - 1) / numbers.width * numbers.width);
    }
    known.rest = static_cast<std::uint8_t>((known.rest + bytes) % known.modulus);
  }

  const bool swapped_;
  std::map<const Type*, std::uint32_t> bodies_;
  std::map<const Type*, std::uint32_t> choices_;  // of variants
};

}  // namespace

std::vector<Plan> compile(const Type& type, bool swapped) {
  Compiler compiler(swapped);
  Plan whole = compiler.plan_of(type, at_start);
  compiler.plans[0] = std::move(whole);
  return std::move(compiler.plans);
}

}  // namespace sinew::msg::cdr
