// Shapes of the graph side, as the tiling functions of the high-level APIs take them.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>
#include "graph/types.h"

namespace ge {

class Shape {
 public:
  Shape() = default;
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
  size_t GetDimNum() const { return dims_.size(); }
  ge::graphStatus SetDim(size_t index, int64_t value) {
    if (index >= dims_.size()) return GRAPH_FAILED;
    dims_[index] = value;
    return GRAPH_SUCCESS;
  }
  int64_t GetDim(size_t index) const { return index < dims_.size() ? dims_[index] : 0; }
  std::vector<int64_t> GetDims() const { return dims_; }
  int64_t GetShapeSize() const {
    int64_t size = dims_.empty() ? 0 : 1;
    for (int64_t dim : dims_) size *= dim;
    return size;
  }

 private:
  std::vector<int64_t> dims_;
};

}  // namespace ge
