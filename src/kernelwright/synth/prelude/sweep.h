// Visits lo <= i < hi in vectors, U at a time; what is left over comes as a part of a vector.
template <int U, class Step> INLINE void sweep(int64_t lo, int64_t hi, Step step) {
  int64_t i = lo;
  for (; i + U * LANES <= hi; i += U * LANES)
#pragma GCC unroll 16
    for (int u = 0; u < U; ++u) step(Full{}, i + u * LANES, u);
  if (U > 1)
    for (; i + LANES <= hi; i += LANES) step(Full{}, i, 0);
  if (i < hi) step(Part{hi - i}, i, 0);
}
