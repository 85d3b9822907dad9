// Matrix products for the cube unit: any strides, the cube's input types, wide accumulators.
#pragma once
#include <cstdint>

namespace kw {

enum class GemmType : uint8_t { kFloat, kHalf, kBfloat16, kInt8 };

// A matrix where it lies; element (r, c) is at data + (r * row + c * column) items.
struct GemmOperand {
    const void* data = nullptr;
    GemmType type = GemmType::kFloat;
    int64_t row = 0;
    int64_t column = 1;
};

// Adds a (m x k) times b (k x n) to the row-major m x n accumulator: float, or int32_t where both
// operands are int8. Float products are summed in float, in the order of k within panels of kPanel.
void gemmAdd(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b,
             float* accumulator);
void gemmAdd(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b,
             int32_t* accumulator);

}  // namespace kw
