// Functions of f32, branch-free but where an argument is rare; measured errors are in the tests.
INLINE vf v_abs(vf x) { return (vf)((vi)x & 0x7fffffff); }
INLINE vf with_sign(vf size, vf sign) { return (vf)((vi)size | ((vi)sign & (int32_t)0x80000000)); }
INLINE vf as_f16(vf x) {
  return __builtin_convertvector(__builtin_convertvector(x, Narrow<f16>::type), vf);
}
INLINE vf as_bf16(vf x) {
  const vu u = (vu)x, r = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u;
  return pick(x != x, x, (vf)r);
}
INLINE vi as_i16(vi x) { return (vi)((vu)x << 16) >> 16; }
#ifdef HAS_AVX512
INLINE vf v_max(vf a, vf b) {  // NaN wins; what is tested is b, the newer value of an accumulation
  const __mmask16 m = _mm512_cmp_ps_mask((__m512)b, (__m512)b, _CMP_ORD_Q);
  return (vf)_mm512_mask_max_ps((__m512)b, m, (__m512)b, (__m512)a);
}
INLINE vf v_min(vf a, vf b) {
  const __mmask16 m = _mm512_cmp_ps_mask((__m512)b, (__m512)b, _CMP_ORD_Q);
  return (vf)_mm512_mask_min_ps((__m512)b, m, (__m512)b, (__m512)a);
}
INLINE vf v_sqrt(vf x) { return (vf)_mm512_sqrt_ps((__m512)x); }
INLINE vf v_rint(vf x) { return (vf)_mm512_roundscale_ps((__m512)x, 8); }
INLINE vf v_floor(vf x) { return (vf)_mm512_roundscale_ps((__m512)x, 9); }
INLINE vf v_ceil(vf x) { return (vf)_mm512_roundscale_ps((__m512)x, 10); }
INLINE vf v_trunc(vf x) { return (vf)_mm512_roundscale_ps((__m512)x, 11); }
#else
INLINE vf v_max(vf a, vf b) { return pick((a > b) | (a != a), a, b); }
INLINE vf v_min(vf a, vf b) { return pick((a < b) | (a != a), a, b); }
#define LANEWISE(NAME, CALL)                           \
  INLINE vf NAME(vf x) {                               \
    for (int l = 0; l < LANES; ++l) x[l] = CALL(x[l]); \
    return x;                                          \
  }
#ifdef HAS_AVX2
INLINE vf v_sqrt(vf x) { return (vf)_mm256_sqrt_ps((__m256)x); }
INLINE vf v_rint(vf x) { return (vf)_mm256_round_ps((__m256)x, 8); }
INLINE vf v_floor(vf x) { return (vf)_mm256_round_ps((__m256)x, 9); }
INLINE vf v_ceil(vf x) { return (vf)_mm256_round_ps((__m256)x, 10); }
INLINE vf v_trunc(vf x) { return (vf)_mm256_round_ps((__m256)x, 11); }
#else
LANEWISE(v_sqrt, __builtin_sqrtf)
LANEWISE(v_rint, __builtin_rintf)
LANEWISE(v_floor, __builtin_floorf)
LANEWISE(v_ceil, __builtin_ceilf)
LANEWISE(v_trunc, __builtin_truncf)
#endif
#endif
INLINE vi v_max(vi a, vi b) { return pick(a > b, a, b); }
INLINE vi v_min(vi a, vi b) { return pick(a < b, a, b); }
INLINE vi v_add(vi a, vi b) { return (vi)((vu)a + (vu)b); }
INLINE vi v_sub(vi a, vi b) { return (vi)((vu)a - (vu)b); }
INLINE vi v_mul(vi a, vi b) { return (vi)((vu)a * (vu)b); }
INLINE vi v_shl(vi a, vi b) { return pick((b >= 0) & (b < 32), (vi)((vu)a << ((vu)b & 31)), vi{}); }
INLINE vi v_shr(vi a, vi b) { return a >> pick((b >= 0) & (b < 32), b, all_i(31)); }
INLINE vf v_add(vf a, vf b) { return a + b; }
INLINE vf v_sub(vf a, vf b) { return a - b; }
INLINE vf v_mul(vf a, vf b) { return a * b; }
INLINE vi saturated(vf x, float low, float high, int32_t top) {  // whole numbers; NaN gives 0
  const vi r = __builtin_convertvector(pick((x >= low) & (x < high), x, all(0.0f)), vi);
  return pick(x >= high, all_i(top), pick(x < low, all_i((int32_t)low), r));
}

struct Power { vf p, whole; vi n; };  // p * 2^n, n also as a float
INLINE Power power_of(vf x) {
  const vf magic = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number
  const vf shifted = x * 1.44269504f + magic, whole = shifted - magic;
  const vf r = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
  const vf p = 1.0f + r * (1.0f + r * (4.9999994e-01f + r * (1.6666521e-01f + r * (4.1668389e-02f +
               r * (8.3687454e-03f + r * 1.3814539e-03f)))));
  return Power{p, whole, (vi)shifted - (vi)magic};
}
INLINE vf v_exp(vf x) {
#ifdef HAS_AVX512
  x = (vf)_mm512_max_ps((__m512)all(-104.0f), (__m512)x);  // NaN comes through as the second
  x = (vf)_mm512_min_ps((__m512)all(89.0f), (__m512)x);
  const Power e = power_of(x);
  return (vf)_mm512_scalef_ps((__m512)e.p, (__m512)e.whole);
#else
  x = pick(x < -104.0f, all(-104.0f), x);
  x = pick(x > 89.0f, all(89.0f), x);
  const Power e = power_of(x);
  const vi half = e.n >> 1;  // 2^n in two factors, each of which is a normal number
  return e.p * (vf)((half + 127) << 23) * (vf)((e.n - half + 127) << 23);
#endif
}
INLINE vf exp_mild(vf x) {  // for arguments between -87 and 88
  const Power e = power_of(x);
  return e.p * (vf)((e.n + 127) << 23);
}
INLINE vf v_ln(vf x) {
  const vi is_tiny = x < 1.17549435e-38f;
  const vf y = pick(is_tiny, x * 8388608.0f, x);
  const vi bits = (vi)y, e = (bits - 0x3f3504f3) >> 23;  // a mantissa between sqrt(1/2), sqrt(2)
  const vf f = (vf)(bits - (e << 23)) - 1.0f;
  const vf k = __builtin_convertvector(e, vf) - pick(is_tiny, all(23.0f), all(0.0f));
  const vf p = 3.333331e-01f + f * (-2.4999987e-01f + f * (2.0002231e-01f + f * (-1.6669261e-01f +
               f * (1.4218563e-01f + f * (-1.2384094e-01f + f * (1.1873475e-01f +
               f * (-1.179162e-01f + f * 6.9164164e-02f)))))));
  vf r = k * 0.693145752f + (f + (k * 1.42860677e-6f + f * f * (f * p - 0.5f)));
  r = pick(x > 0.0f, r, pick(x == 0.0f, all(-INFINITY), all(NAN)));
  return pick(x == INFINITY, x, r);
}
#ifdef HAS_AVX512
// erf on [0, 4): a polynomial for each quarter, its coefficients picked from registers by lane.
alignas(64) static const float ERF[6][16] = {
    {0.0f, 0.276326388f, 0.520499885f, 0.711155653f, 0.842700779f, 0.92290014f, 0.966105163f,
     0.986671686f, 0.995322287f, 0.998537302f, 0.999593019f, 0.999899387f, 0.999977887f,
     0.999995708f, 0.999999285f, 0.999999881f},
    {1.12837911f, 1.06001246f, 0.87878114f, 0.642930686f, 0.415107995f, 0.236521885f,
     0.118930802f, 0.052775152f, 0.0206669308f, 0.00714221271f, 0.00217820518f,
     0.000586236361f, 0.000139236596f, 2.91836259e-05f, 5.39794974e-06f, 8.81090841e-07f},
    {6.60820706e-06f, -0.264925063f, -0.439322948f, -0.482178122f, -0.415130168f,
     -0.295686871f, -0.178419635f, -0.0923638344f, -0.0413314998f, -0.0160652492f,
     -0.00544198742f, -0.00161032774f, -0.000416976662f, -9.46066211e-05f, -1.88272679e-05f,
     -3.28897249e-06f},
    {-0.376324654f, -0.310499728f, -0.147645861f, 0.0264199451f, 0.13874203f, 0.168141395f,
     0.139172688f, 0.0902936757f, 0.0481836796f, 0.0216398221f, 0.00828569103f,
     0.00272664661f, 0.000775364926f, 0.000191260566f, 4.10405992e-05f, 7.67723304e-06f},
    {0.00197638548f, 0.137084961f, 0.192390591f, 0.153846025f, 0.0664981231f, -0.0108305775f,
     -0.0479417332f, -0.0492430702f, -0.0341805592f, -0.0184313077f, -0.00811469741f,
     -0.00298835547f, -0.000933386327f, -0.000249455305f, -5.73909056e-05f, -1.14154636e-05f},
    {0.106041782f, 0.045326151f, -0.0270350482f, -0.0667091832f, -0.061061196f,
     -0.0306439158f, -0.002303252f, 0.011328022f, 0.0124442121f, 0.00836057868f,
     0.0042364141f, 0.00172770733f, 0.000584262016f, 0.000166579775f, 4.04595812e-05f,
     8.43041562e-06f},
};
INLINE vf erf_part(int k, __m512i at) { return (vf)_mm512_permutexvar_ps(at, _mm512_load_ps(ERF[k])); }
INLINE vf v_erf(vf x) {
  vf a = v_abs(x);
  a = pick(a > 3.9999998f, all(3.9999998f), a);  // it is 1 from there on
  const __m512i at = _mm512_cvttps_epi32((__m512)(a * 4.0f));
  const vf t = a - (vf)_mm512_cvtepi32_ps(at) * 0.25f;
  vf r = erf_part(5, at);
  for (int k = 4; k >= 0; --k) r = erf_part(k, at) + t * r;
  return with_sign(r, x);
}
#else
INLINE vf v_erf(vf x) {  // 1 - exp(-a Q(a)), which is 1 from 4 on; an odd polynomial near zero
  const vf a = v_abs(x), b = pick(a > 4.0f, all(4.0f), a), z = x * x;
  const vf q = 1.1283792e+00f + b * (6.366194e-01f + b * (1.02777906e-01f + b * (-1.9153321e-02f +
               b * (-1.5995992e-04f + b * (1.66662e-03f + b * (-6.326261e-04f +
               b * (1.17584976e-04f + b * -9.250233e-06f)))))));
  const vf near = x * (1.1283791e+00f + z * (-3.7612626e-01f + z * (1.12836e-01f +
                  z * (-2.6854444e-02f + z * (5.189535e-03f + z * (-8.020841e-04f +
                  z * 7.889119e-05f))))));
  return pick(a < 0.9f, near, with_sign(1.0f - exp_mild(-b * q), x));
}
#endif
INLINE vf v_tanh(vf x) {
  const vf a = v_abs(x), z = x * x, b = pick(a > 10.0f, all(10.0f), a);  // 1 from about 9 on
  const vf p = -3.3333197e-01f + z * (1.3329244e-01f + z * (-5.3566985e-02f +
               z * (2.0111647e-02f + z * -5.1551047e-03f)));
  return pick(a < 0.65f, x + x * z * p, with_sign(1.0f - 2.0f / (exp_mild(b + b) + 1.0f), x));
}
INLINE vf v_sigmoid(vf x) { return 1.0f / (1.0f + v_exp(-x)); }
INLINE vf v_gelu(vf x) { return 0.5f * x * (1.0f + v_erf(x * 0.70710678f)); }
// sin(x + turn * pi / 2): the nearest multiple of pi / 2 is taken away in three parts.
INLINE vf v_circle(vf x, int32_t turn) {
  const vf magic = all(12582912.0f);
  const vf shifted = x * 0.636619747f + magic, k = shifted - magic;
  const vf r = ((x - k * 1.5703125f) - k * 4.837512969970703e-4f) - k * 7.54978995e-8f;
  const vi n = (vi)shifted - (vi)magic + turn;
  const vf z = r * r;
  const vf s = r + r * z * (-1.6666655e-01f + z * (8.3321609e-03f + z * -1.9515296e-04f));
  const vf c = 1.0f + z * (-0.5f + z * (4.1666646e-02f + z * (-1.3887316e-03f + z * 2.4433157e-05f)));
  vf y = pick((n & 1) != 0, c, s);
  y = (vf)((vi)y ^ (vi)((vu)(n & 2) << 30));
  if (__builtin_expect(!any(v_abs(x) >= 8192.0f), 1)) return pick(x != x, x, y);
  for (int l = 0; l < LANES; ++l)  // large arguments are rare: the C library's reduction
    y[l] = turn ? std::cos(x[l]) : std::sin(x[l]);
  return y;
}
INLINE vf v_sin(vf x) { return v_circle(x, 0); }
INLINE vf v_cos(vf x) { return v_circle(x, 1); }

// From lanes to one number.
template <int U> INLINE float fold_sum(const vf* r) {
  vf v = r[0];
  for (int u = 1; u < U; ++u) v += r[u];
  float f[LANES];
  std::memcpy(f, &v, sizeof f);
  for (int w = LANES / 2; w; w /= 2) for (int l = 0; l < w; ++l) f[l] += f[l + w];
  return f[0];
}
template <int U> INLINE float fold_max(const vf* r) {
  vf v = r[0];
  for (int u = 1; u < U; ++u) v = v_max(v, r[u]);
  float f[LANES];
  std::memcpy(f, &v, sizeof f);
  for (int w = LANES / 2; w; w /= 2) for (int l = 0; l < w; ++l) f[l] = most(f[l], f[l + w]);
  return f[0];
}
template <int U> INLINE float fold_min(const vf* r) {
  vf v = r[0];
  for (int u = 1; u < U; ++u) v = v_min(v, r[u]);
  float f[LANES];
  std::memcpy(f, &v, sizeof f);
  for (int w = LANES / 2; w; w /= 2) for (int l = 0; l < w; ++l) f[l] = least(f[l], f[l + w]);
  return f[0];
}
