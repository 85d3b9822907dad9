// Half precision is computed in float32 and rounded once, when it is stored.
INLINE uint16_t rounded_bf16(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return f != f ? 0x7fc0 : (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
INLINE void put_one(f16* p, vf v) { *p = (f16)v[0]; }
INLINE void put_one(bf16* p, vf v) { p->bits = rounded_bf16(v[0]); }
INLINE vf load(const f16* p, Full) {
  vh h;
  std::memcpy(&h, p, sizeof h);
  return __builtin_convertvector(h, vf);
}
INLINE vf load(const bf16* p, Full) {
  vu16 h;
  std::memcpy(&h, p, sizeof h);
  return (vf)(__builtin_convertvector(h, vi) << 16);
}
template <class T> INLINE vf load(const T* p, Part q) { return gather(p, 1, q); }
INLINE void put(f16* p, vf v, Full) {
  const vh h = __builtin_convertvector(v, vh);
  std::memcpy(p, &h, sizeof h);
}
INLINE void put(bf16* p, vf v, Full) {
  const vi u = (vi)v;
  vi r = ((u + 0x7fff + ((u >> 16) & 1)) >> 16) & 0xffff;
  r = pick_i(v != v, splat_i(0x7fc0), r);
  const vu16 h = __builtin_convertvector(r, vu16);
  std::memcpy(p, &h, sizeof h);
}
template <class T> INLINE void put(T* p, vf v, Part q) {
  for (int64_t l = 0; l < q.left; ++l) put_one(p + l, splat(v[l]));
}
