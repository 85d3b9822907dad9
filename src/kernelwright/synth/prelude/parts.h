// One long row is cut into a fixed number of parts, so that results do not depend on threads.
constexpr int64_t PARTS = 64;
INLINE int64_t part_of(int64_t size) {
  const int64_t span = (size + PARTS - 1) / PARTS;
  return size < PARTS * 64 ? span : (span + 63) / 64 * 64;
}
