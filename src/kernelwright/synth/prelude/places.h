INLINE void put_places(int64_t* p, vi at, Full) {
  for (int64_t l = 0; l < LANES; ++l) p[l] = at[l];
}
INLINE void put_places(int64_t* p, vi at, Part q) {
  for (int64_t l = 0; l < q.left; ++l) p[l] = at[l];
}
