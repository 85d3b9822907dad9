INLINE vf k_tanh(vf x) {
  const vf a = k_abs(x), z = x * x;
  const vf p = -3.3333197e-01f + z * (1.3329244e-01f + z * (-5.3566985e-02f +
               z * (2.0111647e-02f + z * -5.1551047e-03f)));
  const vf far = 1.0f - 2.0f / (k_exp(a + a) + 1.0f);
  return pick(a < 0.65f, x + x * z * p, pick(x < 0.0f, -far, far));
}
