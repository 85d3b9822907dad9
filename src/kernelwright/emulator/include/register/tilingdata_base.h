// Tiling structures. The host side gets a class with setters and SaveToBuffer, the kernel side a
// plain struct of the same layout.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(KW_KERNEL_SIDE)

#define BEGIN_TILING_DATA_DEF(name) struct name {
#define TILING_DATA_FIELD_DEF(type, name) type name;
#define TILING_DATA_FIELD_DEF_ARR(type, size, name) type name[size];
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name;
#define END_TILING_DATA_DEF }
#define REGISTER_TILING_DATA_CLASS(op, name) using KwTilingOf_##op = name;

#else

#include <map>
#include <memory>
#include <string>
#include <vector>
#include "kw/tiling_def.h"

#define BEGIN_TILING_DATA_DEF(name) \
  class name : public ::kw::TilingDef { \
   public:

#define TILING_DATA_FIELD_DEF(type, name) \
 public: \
  void set_##name(type value) { kwValue_##name = value; } \
  type get_##name() const { return kwValue_##name; } \
\
 private: \
  type kwValue_##name = {}; \
  ::kw::TilingField kwField_##name{this, #name, ::kw::tilingKind<type>(), &kwValue_##name, \
                                   {sizeof(type), alignof(type), 1}};

#define TILING_DATA_FIELD_DEF_ARR(type, size, name) \
 public: \
  void set_##name(const type* values) { \
    for (size_t i = 0; i < (size); ++i) kwValue_##name[i] = values[i]; \
  } \
  type* get_##name() { return kwValue_##name; } \
\
 private: \
  type kwValue_##name[size] = {}; \
  ::kw::TilingField kwField_##name{this, #name, ::kw::tilingKind<type>(), &kwValue_##name, \
                                   {sizeof(type), alignof(type), size}};

#define TILING_DATA_FIELD_DEF_STRUCT(type, name) \
 public: \
  type name; \
\
 private: \
  ::kw::TilingField kwField_##name{this, #name, &name};

#define END_TILING_DATA_DEF }

#define REGISTER_TILING_DATA_CLASS(op, name) \
  [[maybe_unused]] static const int kwTilingOf_##op = ::kw::addTilingClass(#op, #name);

#endif
