// Ways to move memory, for the copy ceiling: the fastest one is the bound.
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void stream(const float* x, float* y, int64_t n) {
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16) _mm512_stream_ps(y + i, _mm512_loadu_ps(x + i));
    _mm_sfence();
#elif defined(__AVX__)
    for (; i + 8 <= n; i += 8) _mm256_stream_ps(y + i, _mm256_loadu_ps(x + i));
    _mm_sfence();
#endif
    std::memcpy(y + i, x + i, (n - i) * sizeof(float));
}

static void loop(const float* __restrict__ x, float* __restrict__ y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = x[i];
}

static float total(const float* x, int64_t n) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

extern "C" void move(int64_t kind, const float* x, float* y, int64_t n) {
    if (kind == 0) std::memcpy(y, x, n * sizeof(float));
    if (kind == 1) loop(x, y, n);
    if (kind == 2) stream(x, y, n);
    if (kind == 3) y[0] = total(x, n) + total(y, n);
}
