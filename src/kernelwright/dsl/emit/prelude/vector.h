// Vectors of LANES elements: vf holds f32, f16 and bf16, vi whole numbers and masks (0 or -1).
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __SSE2__
#include <immintrin.h>
#endif
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define LANES 16
#define HAS_AVX512 1
#elif defined(__AVX2__)
#define LANES 8
#define HAS_AVX2 1
#else
#define LANES 4
#endif
#pragma GCC diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))
#define EACH __attribute__((always_inline))
struct bf16 { uint16_t bits; };
#if defined(__clang__) && __clang_major__ < 15 && (defined(__x86_64__) || defined(__i386__))
struct f16 {  // this compiler has no _Float16 here, but what it is stored as
  __fp16 stored;
  f16() = default;
  f16(float x) : stored((__fp16)x) {}
  operator float() const { return (float)stored; }
};
#define _Float16 f16
typedef __fp16 f16_item;
#else
typedef _Float16 f16;
typedef f16 f16_item;
#endif
typedef float vf __attribute__((vector_size(LANES * 4)));
typedef int32_t vi __attribute__((vector_size(LANES * 4)));
typedef uint32_t vu __attribute__((vector_size(LANES * 4)));
template <class T> struct Narrow { typedef T type __attribute__((vector_size(LANES * sizeof(T)))); };
template <> struct Narrow<f16> {
  typedef f16_item type __attribute__((vector_size(LANES * 2)));
};
struct Full {};              // all lanes
struct Part { int64_t n; };  // the first n lanes only, at the end of a row

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
INLINE float least(float a, float b) { return a < b || a != a ? a : b; }
INLINE float most(float a, float b) { return a > b || a != a ? a : b; }
INLINE int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) & ((a < 0) != (b < 0))); }
INLINE int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
INLINE float floor_div(float a, float b) { return std::floor(a / b); }
INLINE float floor_mod(float a, float b) { return a - std::floor(a / b) * b; }
INLINE int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

INLINE vf all(float x) { return x - vf{}; }
INLINE vi all_i(int32_t x) { return x - vi{}; }
INLINE vf pick(vi m, vf a, vf b) { return m ? a : b; }
INLINE vi pick(vi m, vi a, vi b) { return m ? a : b; }
INLINE vi lanes() {
  vi r{};
  for (int l = 0; l < LANES; ++l) r[l] = l;
  return r;
}
INLINE bool any(vi m) {
#if defined(HAS_AVX512)
  return _mm512_movepi32_mask((__m512i)m) != 0;
#elif defined(HAS_AVX2)
  return _mm256_movemask_ps((__m256)m) != 0;
#else
  return (m[0] | m[1] | m[2] | m[3]) != 0;
#endif
}
INLINE vf keep(vf v, float, Full) { return v; }  // a neutral value in lanes that do not exist
INLINE vf keep(vf v, float e, Part q) { return pick(lanes() < (int32_t)q.n, v, all(e)); }

INLINE float number(float x) { return x; }
INLINE float number(f16 x) { return (float)x; }
INLINE float number(bf16 x) {
  const uint32_t u = (uint32_t)x.bits << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
INLINE int32_t number(int32_t x) { return x; }
INLINE int32_t number(int16_t x) { return x; }
INLINE int32_t number(int8_t x) { return x; }
INLINE int32_t number(uint8_t x) { return x; }
INLINE uint16_t round_bf16(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return f != f ? 0x7fc0 : (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
template <class T, class V> INLINE void set(T& to, V x) { to = (T)x; }
INLINE void set(bf16& to, float x) { to.bits = round_bf16(x); }
INLINE vf all_of(float x) { return all(x); }
INLINE vi all_of(int32_t x) { return all_i(x); }

// Elements in memory to lanes and back.
INLINE vf widened(Narrow<float>::type v) { return v; }
INLINE vf widened(Narrow<f16>::type v) { return __builtin_convertvector(v, vf); }
template <class N> INLINE vi widened(N v) { return __builtin_convertvector(v, vi); }
template <class T> INLINE auto load(const T* p, Full) {
  typename Narrow<T>::type v;
  std::memcpy(&v, p, sizeof v);
  return widened(v);
}
INLINE vf load(const bf16* p, Full) {
  Narrow<uint16_t>::type v;
  std::memcpy(&v, p, sizeof v);
  return (vf)(__builtin_convertvector(v, vu) << 16);
}
template <class T> INLINE auto load(const T* p, Part q) {
  alignas(64) T t[LANES] = {};
  for (int64_t l = 0; l < q.n; ++l) t[l] = p[l];
  return load(t, Full{});
}
template <class T> INLINE auto narrowed(const T*, vi v) {
  return __builtin_convertvector(v, typename Narrow<T>::type);
}
INLINE vf narrowed(const float*, vf v) { return v; }
INLINE auto narrowed(const f16*, vf v) { return __builtin_convertvector(v, Narrow<f16>::type); }
INLINE auto narrowed(const bf16*, vf v) {
  const vu u = (vu)v;
  const vu r = (vu)pick(v != v, all_i(0x7fc0), (vi)((u + 0x7fff + ((u >> 16) & 1)) >> 16));
  return __builtin_convertvector(r, Narrow<uint16_t>::type);
}
template <class T, class V> INLINE void put(T* p, V v, Full) {
  const auto n = narrowed(p, v);
  std::memcpy(p, &n, sizeof n);
}
template <class T, class V> INLINE void put(T* p, V v, Part q) {
  alignas(64) T t[LANES];
  put(t, v, Full{});
  for (int64_t l = 0; l < q.n; ++l) p[l] = t[l];
}
#ifdef HAS_AVX512
INLINE __mmask16 first(int64_t n) { return (__mmask16)((1u << n) - 1); }
INLINE __mmask16 lanes_from(int64_t n) {
  return (__mmask16)(0xffffu << least(most(n, (int64_t)0), (int64_t)16));
}
INLINE vf load(const float* p, Part q) { return (vf)_mm512_maskz_loadu_ps(first(q.n), p); }
INLINE vi load(const int32_t* p, Part q) { return (vi)_mm512_maskz_loadu_epi32(first(q.n), p); }
INLINE void put(float* p, vf v, Part q) { _mm512_mask_storeu_ps(p, first(q.n), (__m512)v); }
INLINE void put(int32_t* p, vi v, Part q) { _mm512_mask_storeu_epi32(p, first(q.n), (__m512i)v); }
#endif

// Stores to tensors that no cache would keep go past the caches: a line is not read before it is
// written. They need whole vectors at their own alignment, and `settle` before others may look.
#ifndef FAR_BYTES
#define FAR_BYTES (INT64_C(32) << 20)
#endif
INLINE int64_t lead(const void* p, int64_t item) {  // elements before the next cache line
  return (int64_t)(-(uintptr_t)p % 64) / item;
}
// The first element from `low` on at which p is at a cache line.
INLINE int64_t begin(const void* p, int64_t item, int64_t low, bool is_far) {
  if (!is_far) return low;
  const int64_t first = lead(p, item), line = 64 / item;
  return low <= first ? first : first + ceil_div(low - first, line) * line;
}
template <class N> INLINE void stream(void* p, N n) {
#ifdef HAS_AVX512
  if constexpr (sizeof n == 64) return _mm512_stream_si512((__m512i*)p, (__m512i)n);
#endif
#if defined(HAS_AVX512) || defined(HAS_AVX2)
  if constexpr (sizeof n == 32) return _mm256_stream_si256((__m256i*)p, (__m256i)n);
#endif
#ifdef __SSE2__
  if constexpr (sizeof n == 16) return _mm_stream_si128((__m128i*)p, (__m128i)n);
#endif
  std::memcpy(p, &n, sizeof n);
}
INLINE void settle() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}
template <class T, class V> INLINE void put_far(T* p, V v, Part q, bool) { put(p, v, q); }
template <class T, class V> INLINE void put_far(T* p, V v, Full q, bool is_far) {
  if (is_far) stream(p, narrowed(p, v));
  else put(p, v, q);
}

INLINE int64_t count(Full) { return LANES; }
INLINE int64_t count(Part q) { return q.n; }
template <class T, class Q> INLINE auto load_step(const T* p, int64_t step, Q q) {
  alignas(64) T t[LANES] = {};
  for (int64_t l = 0; l < count(q); ++l) t[l] = p[l * step];
  return load(t, Full{});
}
template <class T, class V, class Q> INLINE void put_step(T* p, V v, int64_t step, Q q) {
  alignas(64) T t[LANES];
  put(t, v, Full{});
  for (int64_t l = 0; l < count(q); ++l) p[l * step] = t[l];
}
// Elements at..at+LANES*step of a row of `size`; those outside it read as `fill`.
template <class T, class V, class Q>
INLINE V load_fill(const T* row, int64_t at, int64_t size, int64_t step, V fill, Q q) {
  if (at >= 0 && at + (count(q) - 1) * step < size)
    return step == 1 ? load(row + at, q) : load_step(row + at, step, q);
  V v = fill;
  for (int64_t l = 0; l < count(q); ++l) {
    const int64_t k = at + l * step;
    if (k >= 0 && k < size) v[l] = number(row[k]);
  }
  return v;
}
template <class T, class V> INLINE V load_inside(const T* row, int64_t at, int64_t, V, Full q) {
  return load(row + at, q);
}
template <class T, class V>
INLINE V load_inside(const T* row, int64_t at, int64_t size, V fill, Part q) {
#ifdef HAS_AVX512
  if constexpr (sizeof(T) == 4 && sizeof(V) == 64) {
    const __mmask16 m = lanes_from(-at) & ~lanes_from(least(size - at, q.n));
    return (V)_mm512_mask_loadu_ps((__m512)fill, m, (const float*)row + at);
  }
#endif
  return load_fill(row, at, size, 1, fill, q);
}
// Memory that is read later is asked for early: `AHEAD_BYTES` before it, or the next row of a loop
// where that will still be near; not of tensors that a core's own cache holds. To ask is never wrong,
// so addresses may be outside of a tensor.
#ifndef AHEAD_BYTES
#define AHEAD_BYTES 4096
#endif
#define NEAR_BYTES 262144
#ifndef BIG_BYTES
#define BIG_BYTES (INT64_C(1) << 20)
#endif
template <class T> INLINE const T* moved(const T* p, int64_t by) {
  return (const T*)((uintptr_t)p + (uintptr_t)by * sizeof(T));
}
template <class T> INLINE const T* next_near(const T* row, const T* next, bool is_big) {
  const int64_t step = (int64_t)((uintptr_t)next - (uintptr_t)row);
  return is_big && step < NEAR_BYTES && step > -NEAR_BYTES ? next : nullptr;
}
// Elements that follow p before what is read next is elsewhere: no end where that lies behind them.
template <class T> INLINE int64_t reach(const T* p, const T* next, int64_t n, bool is_big) {
  if (!is_big) return 0;
  const int64_t step = (int64_t)((uintptr_t)next - (uintptr_t)p) / (int64_t)sizeof(T);
  return step >= n && step <= n + 64 ? INT64_MAX / 16 : n;
}
template <class T> INLINE void fetch(const T*, int64_t, Part) {}
template <class T> INLINE void fetch(const T* p, int64_t j, Full) {
  if (p) __builtin_prefetch(moved(p, j), 0, 2);
}
template <class T> INLINE void fetch_ahead(const T*, const T*, int64_t, int64_t, Part) {}
template <class T> INLINE void fetch_ahead(const T* p, const T* next, int64_t j, int64_t size, Full) {
  if (size <= 0) return;
  const int64_t k = j + least((int64_t)(AHEAD_BYTES / sizeof(T)), size);
  __builtin_prefetch(k < size ? moved(p, k) : moved(next, k - size), 0, 3);
}
// Visits 0 <= j < n in vectors, U at a time; what is left over comes as a part of a vector.
template <int U, class Step> INLINE void sweep(int64_t n, Step step) {
  int64_t j = 0;
  for (; j + U * LANES <= n; j += U * LANES)
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) step(Full{}, j + u * LANES, u);
  if (U > 1)
    for (; j + LANES <= n; j += LANES) step(Full{}, j, 0);
  if (j < n) step(Part{n - j}, j, 0);
}
// The same, with parts of vectors only before `from` and from `to` on.
template <int U, class Step> INLINE void sweep(int64_t n, int64_t from, int64_t to, Step step) {
  for (int64_t j = 0; j < n;) {
    if (j >= from) {
      for (; j + U * LANES <= to; j += U * LANES)
#pragma GCC unroll 16
        for (int u = 0; u < U; ++u) step(Full{}, j + u * LANES, u);
      if (U > 1)
        for (; j + LANES <= to; j += LANES) step(Full{}, j, 0);
      if (j >= n) return;
    }
    const int64_t size = least((j < from ? least(from, n) : n) - j, (int64_t)LANES);
    step(Part{size}, j, 0);
    j += size;
  }
}
// This core's contiguous share of `count` pieces of work.
struct Share { int64_t from, to; };
INLINE Share share(int64_t count, int64_t core, int64_t cores) {
  const int64_t each = most(count, (int64_t)0) / cores, extra = most(count, (int64_t)0) % cores;
  const int64_t from = core * each + least(core, extra);
  return Share{from, from + each + (core < extra)};
}
