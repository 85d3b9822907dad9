// erf: 1 - exp(-a Q(a)), which is 1 from about 4 on; near zero an odd polynomial is exact as well.
INLINE vf k_erf_flat(vf x) {  // absolute error below 1e-7
  const vf a = k_abs(x);
  const vf b = pick(a > 4.0f, splat(4.0f), a);
  const vf q = 1.1283792e+00f + b * (6.366194e-01f + b * (1.02777906e-01f + b * (-1.9153321e-02f +
               b * (-1.5995992e-04f + b * (1.66662e-03f + b * (-6.326261e-04f +
               b * (1.17584976e-04f + b * -9.250233e-06f)))))));
  const vf far = 1.0f - exp_mild(-b * q);
  return (vf)((vi)far | ((vi)x & (int32_t)0x80000000));
}
INLINE vf k_erf(vf x) {
  const vf z = x * x;
  const vf near = x * (1.1283791e+00f + z * (-3.7612626e-01f + z * (1.12836e-01f +
                  z * (-2.6854444e-02f + z * (5.189535e-03f + z * (-8.020841e-04f +
                  z * 7.889119e-05f))))));
  return pick(k_abs(x) < 0.9f, near, k_erf_flat(x));
}
