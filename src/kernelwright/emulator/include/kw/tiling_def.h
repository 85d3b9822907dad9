// What a tiling class knows of its fields: where they lie in the object and in the kernel's struct.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace kw {

enum class TilingKind : uint8_t { kInt, kUint, kFloat, kBool, kOther };

template <typename T>
constexpr TilingKind tilingKind() {
  if (std::is_same<T, bool>::value) return TilingKind::kBool;
  if (std::is_floating_point<T>::value) return TilingKind::kFloat;
  if (std::is_integral<T>::value) {
    return std::is_signed<T>::value ? TilingKind::kInt : TilingKind::kUint;
  }
  return TilingKind::kOther;
}

struct TilingExtent {
  size_t bytes;
  size_t align;
  size_t count;
};

struct TilingFieldInfo {
  const char* name;
  TilingKind kind;
  ptrdiff_t inObject;  // from the object's start, so that a copied object stays valid
  size_t inStruct;     // natural alignment, as the kernel's compiler lays the struct out
  TilingExtent extent;
  bool isNested;
};

// Base of every tiling class on the host.
class TilingDef {
 public:
  size_t GetDataSize() const { return (end_ + align_ - 1) / align_ * align_; }
  void SaveToBuffer(void* data, size_t capacity) const;
  size_t alignment() const { return align_; }
  const std::vector<TilingFieldInfo>& fields() const { return fields_; }
  std::string json() const;

 private:
  friend class TilingField;
  void add(const char* name, TilingKind kind, const void* value, TilingExtent extent);
  void addNested(const char* name, const TilingDef* nested);
  void write(uint8_t* data) const;
  std::vector<TilingFieldInfo> fields_;
  size_t end_ = 0;
  size_t align_ = 1;
};

// Registers one field when its owner is constructed; holds nothing.
class TilingField {
 public:
  TilingField(TilingDef* owner, const char* name, TilingKind kind, const void* value,
              TilingExtent extent) {
    owner->add(name, kind, value, extent);
  }
  TilingField(TilingDef* owner, const char* name, const TilingDef* nested) {
    owner->addNested(name, nested);
  }
};

int addTilingClass(const char* op, const char* name);

}  // namespace kw
