// Status codes and types of the runtime interface.
#pragma once
#include <cstddef>
#include <cstdint>

using aclError = int;
using aclnnStatus = int32_t;
using aclFloat16 = uint16_t;
constexpr aclError ACL_SUCCESS = 0;
constexpr aclError ACL_ERROR_NONE = 0;
constexpr aclError ACL_ERROR_INVALID_PARAM = 100000;
constexpr aclError ACL_ERROR_BAD_ALLOC = 200000;

enum aclDataType {
  ACL_DT_UNDEFINED = -1, ACL_FLOAT = 0, ACL_FLOAT16 = 1, ACL_INT8 = 2, ACL_INT32 = 3,
  ACL_UINT8 = 4, ACL_INT16 = 6, ACL_UINT16 = 7, ACL_UINT32 = 8, ACL_INT64 = 9, ACL_UINT64 = 10,
  ACL_DOUBLE = 11, ACL_BOOL = 12, ACL_STRING = 13, ACL_COMPLEX64 = 16, ACL_COMPLEX128 = 17,
  ACL_BF16 = 27, ACL_INT4 = 29
};
enum aclFormat {
  ACL_FORMAT_UNDEFINED = -1, ACL_FORMAT_NCHW = 0, ACL_FORMAT_NHWC = 1, ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3, ACL_FORMAT_FRACTAL_Z = 4, ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29, ACL_FORMAT_NCDHW = 30
};

extern "C" size_t aclDataTypeSize(aclDataType type);
