// Names of data types and formats, and text in JSON.
#include <cstdio>
#include <string>
#include "graph/utils/type_utils.h"
#include "host_call.h"
#include "host_fault.h"

namespace kw {

namespace {

struct Name {
  int value;
  const char* word;
  const char* enumerator;
};

const Name kTypes[] = {
    {ge::DT_FLOAT, "float", "DT_FLOAT"},       {ge::DT_FLOAT16, "float16", "DT_FLOAT16"},
    {ge::DT_INT8, "int8", "DT_INT8"},          {ge::DT_INT32, "int32", "DT_INT32"},
    {ge::DT_UINT8, "uint8", "DT_UINT8"},       {ge::DT_INT16, "int16", "DT_INT16"},
    {ge::DT_UINT16, "uint16", "DT_UINT16"},    {ge::DT_UINT32, "uint32", "DT_UINT32"},
    {ge::DT_INT64, "int64", "DT_INT64"},       {ge::DT_UINT64, "uint64", "DT_UINT64"},
    {ge::DT_DOUBLE, "double", "DT_DOUBLE"},    {ge::DT_BOOL, "bool", "DT_BOOL"},
    {ge::DT_STRING, "string", "DT_STRING"},    {ge::DT_COMPLEX64, "complex64", "DT_COMPLEX64"},
    {ge::DT_COMPLEX128, "complex128", "DT_COMPLEX128"}, {ge::DT_BF16, "bfloat16", "DT_BF16"},
    {ge::DT_INT4, "int4", "DT_INT4"},          {ge::DT_UINT1, "uint1", "DT_UINT1"},
    {ge::DT_QINT8, "qint8", "DT_QINT8"},       {ge::DT_QINT32, "qint32", "DT_QINT32"},
    {ge::DT_UNDEFINED, "undefined", "DT_UNDEFINED"},
};

const Name kFormats[] = {
    {ge::FORMAT_ND, "ND", "FORMAT_ND"},       {ge::FORMAT_NCHW, "NCHW", "FORMAT_NCHW"},
    {ge::FORMAT_NHWC, "NHWC", "FORMAT_NHWC"}, {ge::FORMAT_NCDHW, "NCDHW", "FORMAT_NCDHW"},
    {ge::FORMAT_NDHWC, "NDHWC", "FORMAT_NDHWC"}, {ge::FORMAT_HWCN, "HWCN", "FORMAT_HWCN"},
    {ge::FORMAT_NCL, "NCL", "FORMAT_NCL"},
    {ge::FORMAT_FRACTAL_NZ, "FRACTAL_NZ", "FORMAT_FRACTAL_NZ"},
    {ge::FORMAT_FRACTAL_Z, "FRACTAL_Z", "FORMAT_FRACTAL_Z"},
    {ge::FORMAT_NC1HWC0, "NC1HWC0", "FORMAT_NC1HWC0"},
    {ge::FORMAT_NDC1HWC0, "NDC1HWC0", "FORMAT_NDC1HWC0"},
};

template <size_t N>
const Name* named(const Name (&names)[N], int value) {
  for (const Name& name : names) {
    if (name.value == value) return &name;
  }
  return nullptr;
}

}  // namespace

const char* dtypeName(int type) {
  const Name* name = named(kTypes, type);
  return name == nullptr ? "unknown" : name->word;
}

const char* dtypeEnumName(int type) {
  const Name* name = named(kTypes, type);
  return name == nullptr ? "DT_UNDEFINED" : name->enumerator;
}

const char* formatName(int format) {
  const Name* name = named(kFormats, format);
  return name == nullptr ? "unknown" : name->word;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string shapeText(const gert::Shape& shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(shape.GetDim(i));
  }
  return out + (shape.GetDimNum() == 1 ? ",)" : ")");
}

}  // namespace kw
