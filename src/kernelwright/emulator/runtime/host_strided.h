// Copies between dense and strided memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kw {

bool isDense(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);
int64_t elementCount(const std::vector<int64_t>& sizes);
std::vector<int64_t> denseStrides(const std::vector<int64_t>& sizes);
void gatherDense(void* dense, const void* strided, const std::vector<int64_t>& sizes,
                 const std::vector<int64_t>& strides, size_t itemBytes);
void scatterDense(void* strided, const void* dense, const std::vector<int64_t>& sizes,
                  const std::vector<int64_t>& strides, size_t itemBytes);

}  // namespace kw
