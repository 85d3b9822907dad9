// TORCH_CHECK and the other ways a binding refuses its arguments.
#pragma once
#include <sstream>
#include "kw/torch_types.h"

namespace kw {

template <typename... Parts>
std::string joined(const Parts&... parts) {
  std::ostringstream out;
  (void)(out << ... << parts);
  return out.str();
}

[[noreturn]] void torchCheckFailed(const char* condition, const std::string& message);

}  // namespace kw

#define TORCH_CHECK(condition, ...) \
  do { \
    if (!(condition)) ::kw::torchCheckFailed(#condition, ::kw::joined(__VA_ARGS__)); \
  } while (false)
#define TORCH_CHECK_VALUE TORCH_CHECK
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_INDEX TORCH_CHECK
#define TORCH_CHECK_NOT_IMPLEMENTED TORCH_CHECK
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ERROR(...) ::kw::torchCheckFailed("", ::kw::joined(__VA_ARGS__))
#define TORCH_WARN(...) ((void)::kw::joined(__VA_ARGS__))
#define TORCH_WARN_ONCE TORCH_WARN
#define C10_UNUSED [[maybe_unused]]
