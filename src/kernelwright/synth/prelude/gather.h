// Elements that do not lie next to each other.
template <class T> INLINE vf gather(const T* p, int64_t stride, Full) {
  vf v{};
  for (int64_t l = 0; l < LANES; ++l) v[l] = value_of(p + l * stride);
  return v;
}
template <class T> INLINE vf gather(const T* p, int64_t stride, Part q) {
  vf v{};
  for (int64_t l = 0; l < q.left; ++l) v[l] = value_of(p + l * stride);
  return v;
}
template <class T, class Q> INLINE vf load_whole(const T* p, Q q) { return gather(p, 1, q); }
