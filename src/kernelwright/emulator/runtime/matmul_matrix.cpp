// Reading operands as they lie, and storing products in the output's type.
#include "matmul_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kw/half.h"

namespace kw {

namespace {

constexpr int64_t kFractalRows = 16;

int64_t roundedUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// Items of one row of a fractal: 32 bytes.
int64_t fractalColumns(Dtype dtype) { return 32 / itemBytes(dtype); }

bool liesTransposed(const Matrix& matrix) { return matrix.isTransposed; }

template <typename T>
void storeItem(void* at, double value, uint8_t atomic) {
    T old;
    std::memcpy(&old, at, sizeof(T));
    if (atomic == 1) value += static_cast<double>(static_cast<float>(old));
    if (atomic == 2) value = std::max(value, static_cast<double>(static_cast<float>(old)));
    if (atomic == 3) value = std::min(value, static_cast<double>(static_cast<float>(old)));
    T made = static_cast<T>(static_cast<float>(value));
    std::memcpy(at, &made, sizeof(T));
}

void storeInteger(void* at, int64_t value, uint8_t atomic) {
    int32_t old;
    std::memcpy(&old, at, sizeof(old));
    if (atomic == 1) value += old;
    if (atomic == 2) value = std::max<int64_t>(value, old);
    if (atomic == 3) value = std::min<int64_t>(value, old);
    int32_t made = static_cast<int32_t>(value);
    std::memcpy(at, &made, sizeof(made));
}

float scaleFrom(uint64_t bits) {
    uint32_t low = static_cast<uint32_t>(bits);
    float scale;
    std::memcpy(&scale, &low, sizeof(scale));
    return scale;
}

double scaled(const Product& product, int64_t index, int64_t column, const Store& how) {
    double value = product.isInteger ? product.integers[index] : product.floats[index];
    if (how.quantVector != nullptr) return value * scaleFrom(how.quantVector[column]);
    return how.quantScalar != 0 ? value * scaleFrom(how.quantScalar) : value;
}

void storeSmall(void* at, double value) {
    int8_t made = static_cast<int8_t>(std::clamp(std::nearbyint(value), -128.0, 127.0));
    std::memcpy(at, &made, sizeof(made));
}

}  // namespace

uint32_t itemBytes(Dtype dtype) { return kDtypeBits[static_cast<int>(dtype)] / 8; }

GemmType gemmType(Dtype dtype) {
    switch (dtype) {
        case Dtype::f16: return GemmType::kHalf;
        case Dtype::bf16: return GemmType::kBfloat16;
        case Dtype::i8: return GemmType::kInt8;
        default: return GemmType::kFloat;
    }
}

int64_t itemOffset(const Matrix& matrix, int64_t row, int64_t column) {
    if (liesTransposed(matrix)) std::swap(row, column);
    if (matrix.layout != MatrixLayout::kNz) return row * matrix.pitch + column;
    int64_t width = fractalColumns(matrix.dtype);
    int64_t rows = roundedUp(matrix.rows, kFractalRows);
    return (column / width * rows + row) * width + column % width;
}

OperandView viewOf(const Matrix& matrix, int64_t row, int64_t column, int64_t rows,
                   int64_t columns) {
    OperandView view;
    view.operand.type = gemmType(matrix.dtype);
    int64_t bytes = itemBytes(matrix.dtype);
    const char* start = static_cast<const char*>(matrix.data);
    if (matrix.layout != MatrixLayout::kNz) {
        view.operand.data = start + itemOffset(matrix, row, column) * bytes;
        view.operand.row = matrix.isTransposed ? 1 : matrix.pitch;
        view.operand.column = matrix.isTransposed ? matrix.pitch : 1;
        return view;
    }
    view.unpacked.resize(rows * columns * bytes);
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
            std::memcpy(&view.unpacked[(r * columns + c) * bytes],
                        start + itemOffset(matrix, row + r, column + c) * bytes, bytes);
        }
    }
    view.operand.data = view.unpacked.data();
    view.operand.row = columns;
    return view;
}

double biasAt(const Matrix& bias, int64_t column) {
    switch (bias.dtype) {
        case Dtype::f32: return static_cast<const float*>(bias.data)[column];
        case Dtype::f16:
            return static_cast<float>(static_cast<const half*>(bias.data)[column]);
        case Dtype::bf16:
            return static_cast<float>(static_cast<const bfloat16_t*>(bias.data)[column]);
        default: return static_cast<const int32_t*>(bias.data)[column];
    }
}

void store(const Product& product, const Matrix& into, int64_t row, int64_t column,
           const Store& how) {
    char* start = const_cast<char*>(static_cast<const char*>(into.data));
    int64_t bytes = itemBytes(into.dtype);
    for (int64_t r = 0; r < product.m; ++r) {
        for (int64_t c = 0; c < product.n; ++c) {
            int64_t index = r * product.n + c;
            void* at = start + itemOffset(into, row + r, column + c) * bytes;
            if (into.dtype == Dtype::i32) {
                storeInteger(at, product.integers[index], how.atomic);
                continue;
            }
            double value = scaled(product, index, column + c, how);
            if (into.dtype == Dtype::f32) storeItem<float>(at, value, how.atomic);
            if (into.dtype == Dtype::f16) storeItem<half>(at, value, how.atomic);
            if (into.dtype == Dtype::bf16) storeItem<bfloat16_t>(at, value, how.atomic);
            if (into.dtype == Dtype::i8) storeSmall(at, value);
        }
    }
}

}  // namespace kw
