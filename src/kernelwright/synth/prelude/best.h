// The place of the largest or smallest element: NaN before all else, then the first of equals.
struct Best { float value; int64_t place; };
INLINE bool beats(float a, float b, bool is_max) {
  if (a != a || b != b) return a != a && b == b;
  return is_max ? a > b : a < b;
}
INLINE void offer(Best& best, float value, int64_t place, bool is_max) {
  const bool ties = !beats(value, best.value, is_max) && !beats(best.value, value, is_max);
  if (best.place < 0 || beats(value, best.value, is_max) || (ties && place < best.place))
    best = Best{value, place};
}
template <bool IS_MAX> INLINE vi better(vf v, vf best) {
  return (IS_MAX ? v > best : v < best) | ((v != v) & (best == best));
}
