// What the Matmul API hands to the runtime: matrices as they lie, and what to make of them.
#pragma once
#include "kw/abi.h"
#include "kw/tiling_structs.h"

namespace kw {

enum class MatrixLayout : uint8_t { kNd, kNz, kNdAligned, kVector };

// One operand. A matrix in global memory is part of a larger one, whose row length is the pitch.
struct Matrix {
  const void* data = nullptr;
  Dtype dtype = Dtype::none;
  bool isGlobal = true;
  bool isTransposed = false;
  MatrixLayout layout = MatrixLayout::kNd;
  int64_t rows = 0;   // of the larger matrix as it lies
  int64_t pitch = 0;  // items from one of its rows to the next
};

// The state of one Matmul object; the inlined methods fill it, the runtime reads it.
struct MatmulState {
  const TCubeTiling* tiling = nullptr;
  Matrix a, b, c, bias;
  bool hasBias = false;
  bool isHf32 = false;
  int32_t m = 0, n = 0, k = 0;                          // of the product to be made
  int32_t orgM = 0, orgN = 0, orgKa = 0, orgKb = 0, orgKc = 0;
  int32_t baseM = 0, baseN = 0;
  int32_t step = -1;           // base block that Iterate stands at, -1 before the first
  uint8_t atomic = 0;          // 0 none, 1 add, 2 max, 3 min
  bool isSequential = false;
  uint64_t quantScalar = 0;
  const uint64_t* quantVector = nullptr;
  int32_t batchesA = 1, batchesB = 1;
  int64_t strideA = 0, strideB = 0, strideC = 0;  // items between the matrices of a batch
  uint8_t layoutA = 0, layoutB = 0, layoutC = 0;  // a LayoutMode
};

void matmulInit(MatmulState& state, const TCubeTiling* tiling);
bool matmulStep(MatmulState& state, bool addsToLast);  // Iterate: false when all blocks are done
void matmulBlock(MatmulState& state, const Matrix& into);  // GetTensorC of the block
void matmulAll(MatmulState& state, const Matrix& into);    // IterateAll
void matmulBatch(MatmulState& state, const Matrix& into);
void matmulEnd(MatmulState& state);
uint64_t matmulBlockOffset(const MatmulState& state);

}  // namespace kw
