// What a static_assert says that is to fail only where a template is used. Not for direct use.
#pragma once

#include "sinew/detail/language.hpp"

namespace sinew::detail {

template <class...>
inline constexpr bool never = false;

}  // namespace sinew::detail
