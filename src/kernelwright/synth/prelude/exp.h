// exp, correct to about 1e-7 from -infinity through subnormal results to +infinity.
struct Power { vf p; vi n; };  // p * 2^n
INLINE Power power_of(vf x) {
  const vf magic = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number
  const vf shifted = x * 1.44269504f + magic;
  const vf whole = shifted - magic;
  const vf r = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
  const vf q = @EXP_POLYNOMIAL@;
  return Power{1.0f + (r + r * r * q), (vi)shifted - (vi)magic};
}
INLINE vf k_exp(vf x) {
  x = pick(x < -104.0f, splat(-104.0f), x);
  x = pick(x > 89.0f, splat(89.0f), x);
  const Power e = power_of(x);
  const vi half = e.n >> 1;  // 2^n in two factors, each of which is a normal number
  return e.p * (vf)((half + 127) << 23) * (vf)((e.n - half + 127) << 23);
}
INLINE vf exp_mild(vf x) {  // for arguments between -87 and 88
  const Power e = power_of(x);
  return e.p * (vf)((e.n + 127) << 23);
}
INLINE vf k_exp_down(vf x) {  // for arguments up to 0; below -87 it is 0
  const Power e = power_of(x);
  return pick(x < -87.0f, vf{}, e.p * (vf)((e.n + 127) << 23));
}
INLINE vf k_sigmoid(vf x) { return 1.0f / (1.0f + k_exp(-x)); }
