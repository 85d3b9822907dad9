// How a kernel reads its tiling data.
#pragma once
#include <cstdint>
#include <cstring>

namespace kw {

// The emulator's word for the tiling key of the launch in progress.
uint64_t launchTilingKey();
// Copies `bytes` of tiling data, reporting a read past what the tiling function wrote.
void readTiling(void* to, const void* tiling, uint64_t offset, uint64_t bytes);

}  // namespace kw

// A generated preamble names the project's own class; a kernel may name another.
#define REGISTER_TILING_DEFAULT(type) using KwTilingDefault = type
#define REGISTER_TILING_FOR_TILINGKEY(expression, type)

#define GET_TILING_DATA_WITH_STRUCT(type, name, tiling) \
  type name; \
  ::kw::readTiling(&name, tiling, 0, sizeof(type))
#define GET_TILING_DATA(name, tiling) GET_TILING_DATA_WITH_STRUCT(KwTilingDefault, name, tiling)
#define GET_TILING_DATA_MEMBER(type, member, name, tiling) \
  decltype(type::member) name; \
  ::kw::readTiling(&name, tiling, offsetof(type, member), sizeof(name))
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, tiling) \
  type kwTilingCopyOf_##name; \
  ::kw::readTiling(&kwTilingCopyOf_##name, tiling, 0, sizeof(type)); \
  const type* name = &kwTilingCopyOf_##name

#define TILING_KEY_IS(key) (::kw::launchTilingKey() == static_cast<uint64_t>(key))
#define TILING_KEY_VAR (::kw::launchTilingKey())
