// What the Matmul API asks of the emulated chip: checks of the memory it touches, and time.
#pragma once
#include <cstdint>

#include "kw/matmul_abi.h"

namespace kw {

// The rectangle rows x columns of a matrix from (row, column), as it lies in memory.
struct Rectangle {
    const Matrix* matrix = nullptr;
    int64_t row = 0, column = 0;
    int64_t rows = 0, columns = 0;
};

// Checks a read or a write of the cube core against ranges and races; false if it may not be done.
bool touchRectangle(const Rectangle& rectangle, bool isWrite);

// Charges one product of m x n x k, made in base blocks, to the cube core of this block and lets
// the caller wait for its end.
void chargeProduct(const MatmulState& state, int64_t m, int64_t n, int64_t k, bool isStored);

// Reports a call whose arguments make no sense; `message` says what to mend.
void refuseMatmul(const char* code, const char* message);

// Whether values are wanted: a launch for time alone skips them.
bool wantsValues();

}  // namespace kw
