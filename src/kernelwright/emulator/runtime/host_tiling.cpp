// Tiling data: layout as the kernel's struct, copy into the buffer, and its fields as JSON.
#include <cmath>
#include <cstring>
#include "host_call.h"
#include "host_fault.h"

namespace kw {

void tilingTooLarge(size_t wanted, size_t capacity) {
  hostFault("HOST_TILING_TOO_LARGE", HostSeverity::kError,
            "the tiling data is " + std::to_string(wanted) + " bytes but the buffer holds " +
                std::to_string(capacity) +
                ": nothing was written, so the kernel would read zeros; pass fewer fields");
}

void TilingDef::add(const char* name, TilingKind kind, const void* value, TilingExtent extent) {
  size_t start = (end_ + extent.align - 1) / extent.align * extent.align;
  ptrdiff_t inObject = static_cast<const char*>(value) - reinterpret_cast<const char*>(this);
  fields_.push_back({name, kind, inObject, start, extent, false});
  end_ = start + extent.bytes * extent.count;
  if (extent.align > align_) align_ = extent.align;
}

void TilingDef::addNested(const char* name, const TilingDef* nested) {
  add(name, TilingKind::kOther, nested, {nested->GetDataSize(), nested->alignment(), 1});
  fields_.back().isNested = true;
}

void TilingDef::write(uint8_t* data) const {
  const char* self = reinterpret_cast<const char*>(this);
  for (const TilingFieldInfo& field : fields_) {
    if (field.isNested) {
      reinterpret_cast<const TilingDef*>(self + field.inObject)->write(data + field.inStruct);
    } else {
      std::memcpy(data + field.inStruct, self + field.inObject,
                  field.extent.bytes * field.extent.count);
    }
  }
}

void TilingDef::SaveToBuffer(void* data, size_t capacity) const {
  if (data == nullptr) {
    hostFault("HOST_TILING_NULL_BUFFER", HostSeverity::kError,
              "SaveToBuffer was given a null buffer; pass GetRawTilingData()->GetData()");
    return;
  }
  if (GetDataSize() > capacity) return tilingTooLarge(GetDataSize(), capacity);
  write(static_cast<uint8_t*>(data));
  if (currentCall() != nullptr) currentCall()->tilingJson = json();
}

namespace {

std::string number(const TilingFieldInfo& field, const char* at) {
  if (field.kind == TilingKind::kFloat) {
    double value = 0;
    if (field.extent.bytes == 4) {
      float narrow;
      std::memcpy(&narrow, at, 4);
      value = narrow;
    } else {
      std::memcpy(&value, at, 8);
    }
    if (!std::isfinite(value)) return "null";
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, at, field.extent.bytes);
  if (field.kind == TilingKind::kBool) return bits != 0 ? "true" : "false";
  if (field.kind != TilingKind::kInt) return std::to_string(bits);
  int shift = static_cast<int>(64 - 8 * field.extent.bytes);
  return std::to_string(static_cast<int64_t>(bits << shift) >> shift);
}

std::string values(const TilingFieldInfo& field, const char* at) {
  if (field.kind == TilingKind::kOther || field.extent.bytes > 8) return "null";
  if (field.extent.count == 1) return number(field, at);
  std::string out = "[";
  for (size_t i = 0; i < field.extent.count; ++i) {
    if (i > 0) out += ",";
    out += number(field, at + i * field.extent.bytes);
  }
  return out + "]";
}

}  // namespace

std::string TilingDef::json() const {
  const char* self = reinterpret_cast<const char*>(this);
  std::string out = "{";
  for (const TilingFieldInfo& field : fields_) {
    if (out.size() > 1) out += ",";
    out += quoted(field.name) + ":";
    const char* at = self + field.inObject;
    out += field.isNested ? reinterpret_cast<const TilingDef*>(at)->json() : values(field, at);
  }
  return out + "}";
}

}  // namespace kw
