// Functions that are called lane by lane: right, not fast.
#define LANEWISE(NAME, CALL)                                \
  INLINE vf NAME(vf x) {                                    \
    vf r{};                                                 \
    for (int l = 0; l < LANES; ++l) r[l] = CALL(x[l]);      \
    return r;                                               \
  }
LANEWISE(k_floor, __builtin_floorf)
LANEWISE(k_ceil, __builtin_ceilf)
LANEWISE(k_trunc, __builtin_truncf)
LANEWISE(k_round, __builtin_rintf)
LANEWISE(k_sin, std::sin)
LANEWISE(k_cos, std::cos)
INLINE vf k_pow(vf x, vf y) {
  vf r{};
  for (int l = 0; l < LANES; ++l) r[l] = std::pow(x[l], y[l]);
  return r;
}
