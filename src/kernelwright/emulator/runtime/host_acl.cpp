// The runtime interface, with host memory in the place of the device's.
#include <cstdlib>
#include <cstring>
#include "acl/acl.h"
#include "graph/types.h"

extern "C" {

size_t aclDataTypeSize(aclDataType type) {
  return static_cast<size_t>(ge::GetSizeByDataType(static_cast<ge::DataType>(type)));
}
aclError aclInit(const char*) { return ACL_SUCCESS; }
aclError aclFinalize() { return ACL_SUCCESS; }
aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
aclError aclrtGetDevice(int32_t* device) {
  *device = 0;
  return ACL_SUCCESS;
}
aclError aclrtCreateContext(aclrtContext* context, int32_t) {
  *context = nullptr;
  return ACL_SUCCESS;
}
aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
aclError aclrtCreateStream(aclrtStream* stream) {
  *stream = nullptr;
  return ACL_SUCCESS;
}
aclError aclrtDestroyStream(aclrtStream) { return ACL_SUCCESS; }
aclError aclrtSynchronizeStream(aclrtStream) { return ACL_SUCCESS; }
aclError aclrtSynchronizeDevice() { return ACL_SUCCESS; }

aclError aclrtMalloc(void** data, size_t bytes, aclrtMemMallocPolicy) {
  *data = std::aligned_alloc(512, (bytes + 32 + 511) / 512 * 512);
  return *data == nullptr ? ACL_ERROR_BAD_ALLOC : ACL_SUCCESS;
}
aclError aclrtFree(void* data) {
  std::free(data);
  return ACL_SUCCESS;
}
aclError aclrtMallocHost(void** data, size_t bytes) {
  return aclrtMalloc(data, bytes, ACL_MEM_MALLOC_NORMAL_ONLY);
}
aclError aclrtFreeHost(void* data) { return aclrtFree(data); }
aclError aclrtMemcpy(void* to, size_t room, const void* from, size_t bytes, aclrtMemcpyKind) {
  if (bytes > room) return ACL_ERROR_INVALID_PARAM;
  std::memcpy(to, from, bytes);
  return ACL_SUCCESS;
}
aclError aclrtMemset(void* to, size_t room, int32_t value, size_t bytes) {
  if (bytes > room) return ACL_ERROR_INVALID_PARAM;
  std::memset(to, value, bytes);
  return ACL_SUCCESS;
}
const char* aclGetRecentErrMsg() { return ""; }
}
