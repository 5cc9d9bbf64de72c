// What sender and receiver exchange: a text too long to live inside std::string, and an array that grows several times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Reading {
  std::uint32_t number = 0;
  std::string text;
  std::vector<std::uint32_t> values;
};

inline std::string text_of(std::uint32_t number) {
  return "reading number " + std::to_string(number) + ", with a text that needs storage of its own";
}
