// From lanes to one number.
INLINE double fold_sum(vf v) {
  float f[LANES];
  std::memcpy(f, &v, sizeof f);
  for (int64_t w = LANES / 2; w; w /= 2) for (int64_t l = 0; l < w; ++l) f[l] += f[l + w];
  return f[0];
}
INLINE double fold_prod(vf v) {
  double r = 1;
  for (int64_t l = 0; l < LANES; ++l) r *= v[l];
  return r;
}
INLINE float larger_of(float a, float b) { return a > b || a != a ? a : b; }
INLINE float smaller_of(float a, float b) { return a < b || a != a ? a : b; }
INLINE float fold_max(vf v) {
  float r = v[0];
  for (int64_t l = 1; l < LANES; ++l) r = larger_of(r, v[l]);
  return r;
}
INLINE float fold_min(vf v) {
  float r = v[0];
  for (int64_t l = 1; l < LANES; ++l) r = smaller_of(r, v[l]);
  return r;
}
