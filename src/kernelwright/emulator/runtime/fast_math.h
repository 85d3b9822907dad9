// exp, ln and tanh over runs of floats, in loops that the compiler turns into vector code. Errors
// are within 2 units in the last place; infinities, NaN and signed zeros are as in <cmath>.
#pragma once
#include <cstdint>

namespace kw {

void expRun(float* out, const float* in, uint64_t n);
void lnRun(float* out, const float* in, uint64_t n);
void tanhRun(float* out, const float* in, uint64_t n);
void erfRun(float* out, const float* in, uint64_t n);

}  // namespace kw
