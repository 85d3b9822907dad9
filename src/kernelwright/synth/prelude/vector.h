// Vectors: LANES floats that the compiler maps onto whatever registers the machine has.
#include <cmath>
#include <cstdint>
#include <cstring>

#pragma GCC diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

constexpr int64_t LANES = @LANES@;
typedef float vf __attribute__((vector_size(LANES * 4)));
typedef int32_t vi __attribute__((vector_size(LANES * 4)));

struct Full {};                // all lanes
struct Part { int64_t left; };  // only the first `left` lanes, at the end of a row

INLINE vf splat(float x) { return x - vf{}; }
INLINE vi splat_i(int32_t x) { return x - vi{}; }
INLINE vf pick(vi m, vf a, vf b) { return m ? a : b; }
INLINE vi pick_i(vi m, vi a, vi b) { return m ? a : b; }
INLINE vi lane_ids() {
  vi r{};
  for (int l = 0; l < LANES; ++l) r[l] = l;
  return r;
}
INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

INLINE vf load(const float* p, Full) { vf v; std::memcpy(&v, p, sizeof v); return v; }
INLINE vf load(const float* p, Part q) {
  vf v{};
  for (int64_t l = 0; l < q.left; ++l) v[l] = p[l];
  return v;
}
INLINE void put(float* p, vf v, Full) { std::memcpy(p, &v, sizeof v); }
INLINE void put(float* p, vf v, Part q) {
  for (int64_t l = 0; l < q.left; ++l) p[l] = v[l];
}
INLINE float value_of(const float* p) { return *p; }
INLINE void put_one(float* p, vf v) { *p = v[0]; }
INLINE vf keep(vf v, vf, Full) { return v; }  // lanes that exist, and a neutral value elsewhere
INLINE vf keep(vf v, vf neutral, Part q) { return pick(lane_ids() < (int32_t)q.left, v, neutral); }
INLINE vf k_neg(vf x) { return -x; }
INLINE vf k_abs(vf x) { return (vf)((vi)x & 0x7fffffff); }
INLINE vf k_square(vf x) { return x * x; }
INLINE vf k_recip(vf x) { return 1.0f / x; }
INLINE vf k_max(vf a, vf b) { return pick((a > b) | (a != a), a, b); }  // NaN wins, as in PyTorch
INLINE vf k_min(vf a, vf b) { return pick((a < b) | (a != a), a, b); }
INLINE vf k_sign(vf x) { return pick(x > 0.0f, splat(1), pick(x < 0.0f, splat(-1), vf{})); }
INLINE vf k_sqrt(vf x) {
  vf r{};
  for (int l = 0; l < LANES; ++l) r[l] = __builtin_sqrtf(x[l]);
  return r;
}
INLINE vf k_rsqrt(vf x) { return 1.0f / k_sqrt(x); }
