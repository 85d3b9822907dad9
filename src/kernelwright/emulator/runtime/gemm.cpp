// A packed, register-blocked product: panels of A and B are converted once and multiplied as tiles.
#include "gemm.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

namespace kw {

namespace {

constexpr int64_t kRows = 6;      // rows of a register tile
constexpr int64_t kColumns = 32;  // its columns: two registers of 512 bits
constexpr int64_t kPanel = 256;   // depth of a packed panel
constexpr int64_t kBlockM = 96;
constexpr int64_t kBlockN = 1024;

template <typename T>
struct Lanes;
template <>
struct Lanes<float> {
    typedef float Vector __attribute__((vector_size(64)));
};
template <>
struct Lanes<int32_t> {
    typedef int32_t Vector __attribute__((vector_size(64)));
};

float itemAt(const GemmOperand& from, int64_t index, float) {
    switch (from.type) {
        case GemmType::kFloat:
            return static_cast<const float*>(from.data)[index];
        case GemmType::kHalf:
            return static_cast<const _Float16*>(from.data)[index];
        case GemmType::kBfloat16: {
            uint32_t bits = uint32_t{static_cast<const uint16_t*>(from.data)[index]} << 16;
            float value;
            std::memcpy(&value, &bits, sizeof(value));
            return value;
        }
        default:
            return static_cast<const int8_t*>(from.data)[index];
    }
}

int32_t itemAt(const GemmOperand& from, int64_t index, int32_t) {
    return static_cast<const int8_t*>(from.data)[index];
}

// Packs `rows` x `depth` of A, tile by tile: kRows values of one k lie together.
template <typename T>
void packA(const GemmOperand& a, int64_t row0, int64_t k0, int64_t rows, int64_t depth, T* packed) {
    for (int64_t tile = 0; tile < rows; tile += kRows) {
        for (int64_t k = 0; k < depth; ++k) {
            for (int64_t r = 0; r < kRows; ++r) {
                int64_t row = tile + r;
                int64_t at = (row0 + row) * a.row + (k0 + k) * a.column;
                *packed++ = row < rows ? itemAt(a, at, T{}) : T{};
            }
        }
    }
}

template <typename T>
void packB(const GemmOperand& b, int64_t k0, int64_t column0, int64_t depth, int64_t columns,
           T* packed) {
    for (int64_t tile = 0; tile < columns; tile += kColumns) {
        int64_t width = std::min(kColumns, columns - tile);
        for (int64_t k = 0; k < depth; ++k) {
            int64_t at = (k0 + k) * b.row + (column0 + tile) * b.column;
            bool isPlain = std::is_same_v<T, float> && b.type == GemmType::kFloat && b.column == 1;
            if (isPlain && width == kColumns) {
                std::memcpy(packed, static_cast<const float*>(b.data) + at, kColumns * 4);
            } else {
                for (int64_t c = 0; c < kColumns; ++c) {
                    packed[c] = c < width ? itemAt(b, at + c * b.column, T{}) : T{};
                }
            }
            packed += kColumns;
        }
    }
}

// One register tile over a panel, added to the accumulator.
template <typename T>
void multiplyTile(const T* a, const T* b, int64_t depth, T* into, int64_t pitch, int64_t rows,
                  int64_t columns) {
    using Vector = typename Lanes<T>::Vector;
    constexpr int kHalf = kColumns / 2;
    Vector left[kRows] = {}, right[kRows] = {};
    for (int64_t k = 0; k < depth; ++k) {
        Vector first, second;
        std::memcpy(&first, b + k * kColumns, sizeof(first));
        std::memcpy(&second, b + k * kColumns + kHalf, sizeof(second));
#pragma GCC unroll 6
        for (int64_t r = 0; r < kRows; ++r) {
            left[r] += first * a[k * kRows + r];
            right[r] += second * a[k * kRows + r];
        }
    }
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
        if (r >= rows) break;
        T* line = into + r * pitch;
        for (int64_t c = 0; c < std::min<int64_t>(columns, kHalf); ++c) line[c] += left[r][c];
        for (int64_t c = kHalf; c < columns; ++c) line[c] += right[r][c - kHalf];
    }
}

template <typename T>
void multiplyPanel(const T* a, const T* b, int64_t m, int64_t n, int64_t depth, T* into,
                   int64_t pitch) {
    for (int64_t column = 0; column < n; column += kColumns) {
        for (int64_t row = 0; row < m; row += kRows) {
            multiplyTile(a + row * depth, b + column * depth, depth, into + row * pitch + column,
                         pitch, std::min(kRows, m - row), std::min(kColumns, n - column));
        }
    }
}

int64_t roundedUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

template <typename T>
void product(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b, T* into) {
    int64_t blockM = roundedUp(std::min(m, kBlockM), kRows);
    int64_t blockN = roundedUp(std::min(n, kBlockN), kColumns);
    int64_t depth = std::min(k, kPanel);
    std::vector<T> packedA(blockM * depth), packedB(blockN * depth);
    for (int64_t column = 0; column < n; column += kBlockN) {
        int64_t columns = std::min(kBlockN, n - column);
        for (int64_t panel = 0; panel < k; panel += kPanel) {
            int64_t deep = std::min(kPanel, k - panel);
            packB(b, panel, column, deep, columns, packedB.data());
            for (int64_t row = 0; row < m; row += kBlockM) {
                int64_t rows = std::min(kBlockM, m - row);
                packA(a, row, panel, rows, deep, packedA.data());
                multiplyPanel(packedA.data(), packedB.data(), rows, columns, deep,
                              into + row * n + column, n);
            }
        }
    }
}

}  // namespace

void gemmAdd(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b,
             float* accumulator) {
    product(m, n, k, a, b, accumulator);
}

void gemmAdd(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b,
             int32_t* accumulator) {
    product(m, n, k, a, b, accumulator);
}

}  // namespace kw
