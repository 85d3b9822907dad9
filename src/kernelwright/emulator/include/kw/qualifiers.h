// Qualifiers of device code. On the host there is one address space.
#pragma once
#include <cstdint>

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __ssbuf__
#define __inline_aicore__ inline
#define __sync_alias__
#define __sync_in__
#define __sync_out__
#define __mix__(cube, vector)
#define __cube__
#define __vector__
#define __no_simd_vf_fusion__

#define GM_ADDR __gm__ uint8_t*

#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 220
#endif
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#ifndef ASCENDC_CPU_DEBUG
#define KW_DEVICE_PATH 1
#endif
