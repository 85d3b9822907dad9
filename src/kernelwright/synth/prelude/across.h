// Visits the vectors of a tile of columns; v counts them.
template <class Step> INLINE void across(int64_t first, int64_t width, Step step) {
  int64_t v = 0;
  for (; (v + 1) * LANES <= width; ++v) step(Full{}, first + v * LANES, v);
  if (v * LANES < width) step(Part{width - v * LANES}, first + v * LANES, v);
}
