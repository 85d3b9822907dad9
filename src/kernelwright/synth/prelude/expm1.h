// exp(x) - 1 without cancellation near zero.
INLINE vf k_expm1(vf x) {
  const vf q = 5.0000006e-01f + x * (1.6666669e-01f + x * (4.1665316e-02f + x * (8.333073e-03f +
               x * (1.3997457e-03f + x * 1.9992897e-04f))));
  return pick(k_abs(x) < 0.5f, x + x * x * q, k_exp(x) - 1.0f);
}
