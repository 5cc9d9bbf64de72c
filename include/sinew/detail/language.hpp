// The language that the headers are in: those that include no other of sinew's include this, so that a compiler of an older one says one sentence, and not what it makes of each line that follows.
#pragma once

#if __cplusplus < 202002L
#error "sinew needs C++20: compile with -std=c++20"
// No compiler goes on without a file that it is to include; after an #error they all do.
#include "sinew needs C++20: compile with -std=c++20"
#endif
