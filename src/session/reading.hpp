// How a subscriber reads what it is given.
#pragma once

namespace sinew::session {

enum class Reading {
  as_possible,  ///< in place where both processes have the same layout and the publisher's addresses are free here, else in pieces
  in_place,     ///< or not at all
  pieces,       ///< the CDR stream, big arrays where they lie
  nothing,      ///< only what comes by pointer, within the process
  copy,         ///< as as_possible, but nothing is held: messages are copied, or decoded as a whole
};

}  // namespace sinew::session
