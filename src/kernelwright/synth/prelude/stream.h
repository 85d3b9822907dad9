// Stores that go past the caches, for results that are larger than they are.
INLINE bool is_aligned(const void* p) { return ((uintptr_t)p & (LANES * 4 - 1)) == 0; }
INLINE void put_past_cache(float* p, vf v) {
#if defined(__clang__)
  __builtin_nontemporal_store(v, (vf*)p);
#elif defined(__AVX512F__) && @LANES@ == 16
  typedef float wide __attribute__((vector_size(64)));
  __builtin_ia32_movntps512(p, (wide)v);
#elif defined(__AVX__)
  typedef float wide __attribute__((vector_size(32)));
  for (int i = 0; i < LANES / 8; ++i) {
    wide w;
    std::memcpy(&w, (const char*)&v + 32 * i, sizeof w);
    __builtin_ia32_movntps256(p + 8 * i, w);
  }
#else
  put(p, v, Full{});
#endif
}
INLINE void put_stream(float* p, vf v, Full q, bool is_past) {
  if (is_past) put_past_cache(p, v); else put(p, v, q);
}
INLINE void put_stream(float* p, vf v, Part q, bool) { put(p, v, q); }
INLINE void end_stream() {
#if defined(__SSE__) && !defined(__clang__)
  __builtin_ia32_sfence();
#else
  __sync_synchronize();
#endif
}
