// One element of any type, as float32.
struct bf16 { uint16_t bits; };
typedef _Float16 f16;
typedef uint16_t vu16 __attribute__((vector_size(LANES * 2)));
typedef f16 vh __attribute__((vector_size(LANES * 2)));

INLINE float value_of(const f16* p) { return (float)*p; }
INLINE float value_of(const bf16* p) {
  const uint32_t u = (uint32_t)p->bits << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
INLINE float value_of(const int64_t* p) { return (float)*p; }
INLINE float value_of(const int32_t* p) { return (float)*p; }
INLINE float value_of(const int16_t* p) { return *p; }
INLINE float value_of(const int8_t* p) { return *p; }
INLINE float value_of(const uint8_t* p) { return *p; }
INLINE float value_of(const double* p) { return (float)*p; }
