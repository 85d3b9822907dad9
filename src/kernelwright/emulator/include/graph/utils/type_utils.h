// Names of data types and formats as text.
#pragma once
#include "graph/types.h"

namespace kw {
const char* dtypeName(int type);  // "float", "float16", ...: the words of a project's JSON
const char* dtypeEnumName(int type);  // "DT_FLOAT", ...
const char* formatName(int format);  // "ND", "NCHW", ...
}  // namespace kw

namespace ge {
class TypeUtils {
 public:
  static std::string DataTypeToSerialString(DataType type) { return kw::dtypeEnumName(type); }
  static std::string DataTypeToAscendString(DataType type) { return kw::dtypeEnumName(type); }
  static std::string FormatToSerialString(Format format) { return kw::formatName(format); }
};
}  // namespace ge
