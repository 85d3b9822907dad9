INLINE void put_one_of(float* p, float x) { *p = x; }
INLINE void put_one_of(f16* p, float x) { *p = (f16)x; }
INLINE void put_one_of(bf16* p, float x) { p->bits = rounded_bf16(x); }
template <class T> INLINE void scatter(T* p, int64_t stride, vf v, Full) {
  for (int64_t l = 0; l < LANES; ++l) put_one_of(p + l * stride, v[l]);
}
template <class T> INLINE void scatter(T* p, int64_t stride, vf v, Part q) {
  for (int64_t l = 0; l < q.left; ++l) put_one_of(p + l * stride, v[l]);
}
