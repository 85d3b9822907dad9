// Start-up, workspace, and looking inside: printf, DumpTensor, ASCENDC_ASSERT.
#pragma once
#include "kw/global_tensor.h"
#include "kw/local_tensor.h"

namespace kw {

void* systemWorkspace();
void setSystemWorkspace(void* workspace);
void* userWorkspace(void* workspace);
void initState();
__attribute__((format(printf, 1, 2))) void devicePrintf(const char* format, ...);
void dumpTensor(Dtype dtype, const void* data, uint32_t tag, uint32_t count, bool isGlobal);
__attribute__((format(printf, 4, 5)))
void assertFailed(const char* condition, const char* file, int line, const char* format = "", ...);
void deviceTrap();

}  // namespace kw

// Both calls are known without their namespace too.
KW_API __gm__ uint8_t* GetSysWorkSpacePtr() { return static_cast<uint8_t*>(kw::systemWorkspace()); }

namespace AscendC {

using ::GetSysWorkSpacePtr;
KW_API void SetSysWorkspace(GM_ADDR workspace) { kw::setSystemWorkspace(workspace); }
KW_API void SetSysWorkspaceForce(GM_ADDR workspace) { kw::setSystemWorkspace(workspace); }
KW_API __gm__ uint8_t* GetUserWorkspace(GM_ADDR workspace) {
  return static_cast<uint8_t*>(kw::userWorkspace(workspace));
}
KW_API void InitSocState() { kw::initState(); }
KW_API void SetAippFunctions() {}
KW_API void Trap() { kw::deviceTrap(); }
KW_API int64_t GetSystemCycle() { return 0; }

template <typename T>
KW_API void DumpTensor(const LocalTensor<T>& tensor, uint32_t tag, uint32_t count) {
  kw::dumpTensor(kw::kDtypeOf<T>, tensor.GetPhyAddr(), tag, count, false);
}
template <typename T>
KW_API void DumpTensor(const GlobalTensor<T>& tensor, uint32_t tag, uint32_t count) {
  kw::dumpTensor(kw::kDtypeOf<T>, tensor.GetPhyAddr(), tag, count, true);
}
template <typename T>
KW_API void DumpTensor(const LocalTensor<T>& tensor, uint32_t tag, uint32_t count, const ShapeInfo&) {
  DumpTensor(tensor, tag, count);
}
template <typename T>
KW_API void DumpTensor(const GlobalTensor<T>& tensor, uint32_t tag, uint32_t count, const ShapeInfo&) {
  DumpTensor(tensor, tag, count);
}
template <typename... Args>
KW_API void PRINTF(const char* format, Args... args) { kw::devicePrintf(format, args...); }
template <typename... Args>
KW_API void printf(const char* format, Args... args) { kw::devicePrintf(format, args...); }

}  // namespace AscendC

// A kernel's plain printf goes where the device's goes: into the report.
#define KW_PRINTF(...) ::kw::devicePrintf(__VA_ARGS__)
#define ASCENDC_ASSERT(condition, ...) \
  do { \
    if (!(condition)) ::kw::assertFailed(#condition, __FILE__, __LINE__); \
  } while (0)
#define ascendc_assert ASCENDC_ASSERT
#ifndef ASSERT
#define ASSERT(condition) ASCENDC_ASSERT(condition)
#endif
