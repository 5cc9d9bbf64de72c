// A message whose variant loses its value where the making of another one throws.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <variant>

#include "sinew/message.hpp"

namespace sinew::system {

class Angle {
 public:
  SINEW_MESSAGE(Angle, degrees_, unit_);
  Angle() = default;
  explicit Angle(double degrees) : degrees_(degrees) {
    if (degrees < 0) throw std::runtime_error("an angle below 0");
  }

 private:
  double degrees_ = 0;
  std::string unit_ = "degrees";
};

struct Measurement {
  std::variant<std::string, Angle> value;
};

inline void lose_value(Measurement& of) {
  EXPECT_THROW(of.value.emplace<Angle>(-1.0), std::runtime_error);
}

}  // namespace sinew::system
