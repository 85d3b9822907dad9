// Faults of the host side: what a tiling function, a definition or a binding did wrong.
#pragma once
#include <string>

namespace kw {

enum class HostSeverity { kError, kWarning };

// Adds a fault to the call in progress; each (code, message) once.
void hostFault(const char* code, HostSeverity severity, const std::string& message);
std::string quoted(const std::string& text);  // as a JSON string

}  // namespace kw
