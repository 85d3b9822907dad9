INLINE vf k_tanh(vf x) {
  const vf a = k_abs(x), z = x * x;
  const vf p = -3.3333197e-01f + z * (1.3329244e-01f + z * (-5.3566985e-02f +
               z * (2.0111647e-02f + z * -5.1551047e-03f)));
  const vf b = pick(a > 10.0f, splat(10.0f), a);  // tanh is 1 from about 9 on
  const vf far = 1.0f - 2.0f / (exp_mild(b + b) + 1.0f);
  return pick(a < 0.65f, x + x * z * p, (vf)((vi)far | ((vi)x & (int32_t)0x80000000)));
}
