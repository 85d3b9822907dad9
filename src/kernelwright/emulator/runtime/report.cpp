#include "report.h"

#include <dlfcn.h>
#include <cstdio>

namespace kw {

std::string jsonText(const std::string& text) {
  std::string out = "\"";
  for (const unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20 || c >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + "\"";
}

std::string jsonPlace(const void* pc) {
  Dl_info info;
  if (pc == nullptr || dladdr(pc, &info) == 0 || info.dli_fname == nullptr) return "null";
  const auto offset = static_cast<const char*>(pc) - static_cast<const char*>(info.dli_fbase);
  // The return address is one past the call.
  return "{\"image\":" + jsonText(info.dli_fname) + ",\"offset\":" + std::to_string(offset - 1) + "}";
}

}  // namespace kw
