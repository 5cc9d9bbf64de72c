// A plugin without sinew: grows a string, takes a vector with its storage, frees what it was given.
#include "reading.hpp"

extern "C" __attribute__((visibility("default"))) void change(Reading& reading, std::vector<std::uint32_t>& taken) {
  reading.text += '!';
  reading.text.shrink_to_fit();
  std::vector<std::uint32_t> mine = std::move(reading.values);
  mine.push_back(reading.number);
  if (taken.empty()) taken = mine;
  reading.values = {reading.number, reading.number};
}
