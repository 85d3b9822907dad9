// Matrices of the Matmul API: how they lie, and how products are read from and written to them.
#pragma once
#include <cstdint>
#include <vector>

#include "gemm.h"
#include "kw/matmul_abi.h"

namespace kw {

// A dense or strided view of an operand for the product; `unpacked` owns what a fractal layout
// was rearranged into.
struct OperandView {
    GemmOperand operand;
    std::vector<uint8_t> unpacked;
};

// A rectangle of a product, in the accumulator's type.
struct Product {
    int64_t m = 0, n = 0;
    bool isInteger = false;
    std::vector<float> floats;
    std::vector<int32_t> integers;
};

uint32_t itemBytes(Dtype dtype);
GemmType gemmType(Dtype dtype);

// The part of `matrix` that starts at (row, column) of the logical operand: transposition is
// undone by strides, a fractal layout by a copy of rows x columns items.
OperandView viewOf(const Matrix& matrix, int64_t row, int64_t column, int64_t rows,
                   int64_t columns);

// Where element (row, column) of a matrix lies, in items from its start.
int64_t itemOffset(const Matrix& matrix, int64_t row, int64_t column);

double biasAt(const Matrix& bias, int64_t column);

// How a product becomes the output: scale of an int32 accumulator, and what to do with old values.
struct Store {
    uint8_t atomic = 0;
    uint64_t quantScalar = 0;
    const uint64_t* quantVector = nullptr;
};

// Writes a product to `into` with its upper left corner at (row, column).
void store(const Product& product, const Matrix& into, int64_t row, int64_t column,
           const Store& how);

}  // namespace kw
