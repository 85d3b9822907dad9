// Sizes that kernels name: Atlas A2 (NPU architecture 2201).
#pragma once
#include <cstdint>

namespace AscendC {

constexpr int32_t ONE_BLK_SIZE = 32;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLOCK_SIZE = 256;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t ONE_BYTE_BIT_SIZE = 8;
constexpr uint8_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr uint8_t ONE_FOURTH_DEFAULT_REPEAT_STRIDE = 2;
constexpr int32_t BLOCK_CUBE = 16;
constexpr int32_t CUBE_MAX_SIZE = 256;
constexpr int32_t BYTE_PER_FRACTAL = 512;
constexpr int32_t ONE_BLK_FLOAT_NUM = 8;
constexpr int32_t ONE_REPEAT_FLOAT_SIZE = 64;
constexpr int32_t ONE_REPEAT_HALF_SIZE = 128;
constexpr int32_t DEFAULT_C0_SIZE = 32;
constexpr int32_t MIN_REPEAT_TIMES = 0;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr int32_t MAX_BLOCK_COUNT = 4095;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
constexpr int32_t TOTAL_UB_SIZE = 192 * 1024;
constexpr int32_t TMP_UB_SIZE = 8 * 1024;
constexpr int32_t TOTAL_L1_SIZE = 512 * 1024;
constexpr int32_t TOTAL_L0A_SIZE = 64 * 1024;
constexpr int32_t TOTAL_L0B_SIZE = 64 * 1024;
constexpr int32_t TOTAL_L0C_SIZE = 128 * 1024;
constexpr uint64_t MASK_PLACEHOLDER = 0;
[[maybe_unused]] static uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr int32_t K_MAX_SHAPE_DIM = 8;
constexpr uint32_t INVALID_TEVENTID = 0xffu;

}  // namespace AscendC
