// Callables that are kept, told of to a compiler that does not see it. Not for direct use.
#pragma once

#include <memory>

#include "sinew/detail/language.hpp"

namespace sinew::detail {

/// The same callable. For every template that keeps a callable of the user's, before anything else is done with it.
///
/// GCC 12.2, which is Debian 12's, misjudges functions that return what they have wrapped a callable into (IPA-modref, from -O1 on, where such a function is not inlined): what the callable refers to has not got out, it
/// concludes, and it never looks again at variables that a callback with [&] has changed. Here all that the callable refers to gets out, into an assembly without instructions, and stays so whatever it is wrapped into
/// afterwards. tests/install/programs/captures.cpp has every kind of callback.
template <class Callable>
[[gnu::always_inline]] inline Callable&& escaping(Callable&& callable) noexcept {
  __asm__ volatile("" : : "r"(std::addressof(callable)) : "memory");
  return static_cast<Callable&&>(callable);
}

}  // namespace sinew::detail
