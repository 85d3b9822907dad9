// Copies between dense and strided memory, one innermost row at a time.
#include "host_strided.h"
#include <cstring>

namespace kw {

int64_t elementCount(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

std::vector<int64_t> denseStrides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * (sizes[i] > 0 ? sizes[i] : 1);
  return strides;
}

bool isDense(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

namespace {

// Calls `row(denseOffset, stridedOffset, count, stride)` for each innermost row, in elements.
template <typename Row>
void eachRow(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, Row row) {
  if (elementCount(sizes) == 0) return;
  if (sizes.empty()) return row(0, 0, 1, 1);
  size_t outer = sizes.size() - 1;
  std::vector<int64_t> at(outer, 0);
  int64_t dense = 0, offset = 0;
  while (true) {
    row(dense, offset, sizes[outer], strides[outer]);
    dense += sizes[outer];
    size_t dim = outer;
    while (dim > 0) {
      --dim;
      offset += strides[dim];
      if (++at[dim] < sizes[dim]) break;
      offset -= strides[dim] * sizes[dim];
      at[dim] = 0;
      if (dim == 0) return;
    }
    if (outer == 0) return;
  }
}

}  // namespace

void gatherDense(void* dense, const void* strided, const std::vector<int64_t>& sizes,
                 const std::vector<int64_t>& strides, size_t itemBytes) {
  auto* to = static_cast<char*>(dense);
  auto* from = static_cast<const char*>(strided);
  eachRow(sizes, strides, [&](int64_t at, int64_t offset, int64_t count, int64_t stride) {
    if (stride == 1) {
      std::memcpy(to + at * itemBytes, from + offset * static_cast<int64_t>(itemBytes),
                  count * itemBytes);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + (at + i) * itemBytes,
                  from + (offset + i * stride) * static_cast<int64_t>(itemBytes), itemBytes);
    }
  });
}

void scatterDense(void* strided, const void* dense, const std::vector<int64_t>& sizes,
                  const std::vector<int64_t>& strides, size_t itemBytes) {
  auto* to = static_cast<char*>(strided);
  auto* from = static_cast<const char*>(dense);
  eachRow(sizes, strides, [&](int64_t at, int64_t offset, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + (offset + i * stride) * static_cast<int64_t>(itemBytes),
                  from + (at + i) * itemBytes, itemBytes);
    }
  });
}

}  // namespace kw
