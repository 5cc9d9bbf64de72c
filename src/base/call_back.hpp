// Calling back what a user has given.
#pragma once

#include <utility>

namespace sinew::base {

/// Calls a function of the user's. An exception that leaves it ends the program, here: with its text on standard error, and with what threw it still on the stack of the core.
///
/// So this is a function that nothing is inlined from and that has nothing to clean up. Inlined into one that has, GCC ends the program only when that has been cleaned up, and without a word of the exception.
template <class Function, class... Arguments>
[[gnu::noinline]] void call_back(Function& function, Arguments&&... arguments) noexcept {
  function(std::forward<Arguments>(arguments)...);
}

}  // namespace sinew::base
