// Memory and streams of the runtime interface; device memory is host memory here.
#pragma once
#include "acl/acl_base.h"

using aclrtStream = void*;
using aclrtContext = void*;
using aclrtEvent = void*;
using rtStream_t = void*;

enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY
};
enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE
};

extern "C" {
aclError aclInit(const char* configPath);
aclError aclFinalize();
aclError aclrtSetDevice(int32_t device);
aclError aclrtResetDevice(int32_t device);
aclError aclrtGetDevice(int32_t* device);
aclError aclrtCreateContext(aclrtContext* context, int32_t device);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtSynchronizeDevice();
aclError aclrtMalloc(void** data, size_t bytes, aclrtMemMallocPolicy policy);
aclError aclrtFree(void* data);
aclError aclrtMallocHost(void** data, size_t bytes);
aclError aclrtFreeHost(void* data);
aclError aclrtMemcpy(void* to, size_t room, const void* from, size_t bytes, aclrtMemcpyKind kind);
aclError aclrtMemset(void* to, size_t room, int32_t value, size_t bytes);
const char* aclGetRecentErrMsg();
}
