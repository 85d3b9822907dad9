// Natural logarithm, also of subnormal numbers; log(0) is -infinity, of negative numbers NaN.
INLINE vf k_log(vf x) {
  const vi is_tiny = x < 1.17549435e-38f;
  const vf y = pick(is_tiny, x * 8388608.0f, x);
  const vi bits = (vi)y;
  const vi e = (bits - 0x3f3504f3) >> 23;  // the mantissa lies between sqrt(1/2) and sqrt(2)
  const vf f = (vf)(bits - (e << 23)) - 1.0f;
  const vf k = __builtin_convertvector(e, vf) - pick(is_tiny, splat(23.0f), splat(0.0f));
  const vf p = 3.333331e-01f + f * (-2.4999987e-01f + f * (2.0002231e-01f + f * (-1.6669261e-01f +
               f * (1.4218563e-01f + f * (-1.2384094e-01f + f * (1.1873475e-01f +
               f * (-1.179162e-01f + f * 6.9164164e-02f)))))));
  vf r = k * 0.693145752f + (f + (k * 1.42860677e-6f + f * f * (f * p - 0.5f)));
  r = pick(x > 0.0f, r, pick(x == 0.0f, splat(-INFINITY), splat(NAN)));
  return pick(x == INFINITY, x, r);
}
INLINE vf k_log1p(vf x) {
  const vf u = 1.0f + x;  // what rounding lost comes back as a first-order correction
  const vf r = k_log(u) + (x - (u - 1.0f)) / u;
  return pick((u == INFINITY) | (u == 0.0f) | (x != x), k_log(u), r);
}
