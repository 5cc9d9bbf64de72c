// What can be done with the messages of a definition, found out by doing it.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "definition.hpp"

namespace sinew::coverage {

/// Why no array of a message with members of variable length is referred to where it lies.
enum class Obstacle : std::uint8_t {
  text,     ///< what it has is strings
  texts,    ///< a sequence of strings, or of structures with strings or sequences
  bound,    ///< a sequence or string that cannot have a page
  padding,  ///< a sequence of structures that have padding in memory
  bits,     ///< a sequence of bool
  unknown,  ///< none: it could have been
};
/// In words that can follow "it has".
const char* words_for(Obstacle obstacle);

/// A text is what is wrong; empty: nothing.
struct Findings {
  std::string native;            ///< copied into a region, as publishing does, a value lies in it as a whole and is accepted by a reader
  std::string cdr;               ///< in both byte orders the stream is that of Fast CDR, and is read back
  std::string pieces;            ///< in both byte orders the pieces are the stream
  bool variable = false;         ///< it has strings or sequences: what follows is about these
  bool sequences = false;        ///< not only strings
  unsigned arrays = 0;           ///< arrays of numbers, or of structures without padding, of a page and more, in all values
  unsigned arrays_in_place = 0;  ///< of them, those that are a piece where they lie
  bool text_in_place = false;    ///< a string is
  std::set<Obstacle> obstacles;  ///< when no array is
};

/// Makes some values with random contents, small, around a page, and above, and tries everything with them.
Findings examine(const msg::Message& message, const Listing& listing);

}  // namespace sinew::coverage
