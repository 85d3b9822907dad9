// Flags are masks: all bits of a lane, or none.
INLINE vi load_mask(const uint8_t* p, Full) {
  typedef uint8_t vu8 __attribute__((vector_size(LANES)));
  vu8 b;
  std::memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, vi) != 0;
}
INLINE vi load_mask(const uint8_t* p, Part q) {
  vi m{};
  for (int64_t l = 0; l < q.left; ++l) m[l] = p[l] ? -1 : 0;
  return m;
}
INLINE void put_mask(uint8_t* p, vi m, Full) {
  for (int64_t l = 0; l < LANES; ++l) p[l] = m[l] ? 1 : 0;
}
INLINE void put_mask(uint8_t* p, vi m, Part q) {
  for (int64_t l = 0; l < q.left; ++l) p[l] = m[l] ? 1 : 0;
}
