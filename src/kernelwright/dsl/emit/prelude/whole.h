// Operations on whole views: rows of elements, `pitch` apart, `step` between elements of a row.
template <class T> struct View {
  T* p;
  int64_t rows, cols, pitch, step;
  inline __attribute__((always_inline)) T& at(int64_t i, int64_t j) const { return p[i * pitch + j * step]; }
};
template <class T> static void gather(View<T> d, View<T> a, View<int32_t> index) {
  for (int64_t i = 0; i < d.rows; ++i)
    for (int64_t j = 0; j < d.cols; ++j) {
      const int64_t k = index.at(i, j);
      d.at(i, j) = a.at(k / a.cols, k % a.cols);
    }
}
template <class T> static void strided(View<T> d, View<T> a, int64_t start, int64_t step) {
  for (int64_t j = 0; j < d.cols; ++j) {
    const int64_t k = start + j * step;
    d.at(0, j) = a.rows == 1 ? a.at(0, k) : a.at(k / a.cols, k % a.cols);
  }
}
template <class T> static void transpose(View<T> d, View<T> a) {
  constexpr int64_t B = 16;
  for (int64_t i = 0; i < d.rows; i += B)
    for (int64_t j = 0; j < d.cols; j += B)
      for (int64_t k = i; k < least(i + B, d.rows); ++k)
        for (int64_t l = j; l < least(j + B, d.cols); ++l) d.at(k, l) = a.at(l, k);
}
// Running sums and products in double precision, rounded where they are written.
template <bool IS_PRODUCT, class T>
static void scan(View<T> d, View<T> a, const View<T>* carry, int axis) {
  const int64_t lines = axis == 1 ? a.rows : a.cols, size = axis == 1 ? a.cols : a.rows;
  for (int64_t i = 0; i < lines; ++i) {
    double run = IS_PRODUCT ? 1.0 : 0.0, from = run;
    T* const kept = carry ? (axis == 1 ? &carry->at(i, 0) : &carry->at(0, i)) : nullptr;
    if (kept) from = number(*kept);
    for (int64_t j = 0; j < size; ++j) {
      const double x = number(axis == 1 ? a.at(i, j) : a.at(j, i));
      run = IS_PRODUCT ? run * x : run + x;
      set(axis == 1 ? d.at(i, j) : d.at(j, i), (float)(IS_PRODUCT ? run * from : run + from));
    }
    if (kept) set(*kept, (float)(IS_PRODUCT ? run * from : run + from));
  }
}
struct Sum { static constexpr float none = 0; static vf join(vf a, vf b) { return a + b; } };
struct Max { static constexpr float none = -INFINITY; static vf join(vf a, vf b) { return v_max(a, b); } };
struct Min { static constexpr float none = INFINITY; static vf join(vf a, vf b) { return v_min(a, b); } };
template <int U> INLINE float folded(const vf* r, Sum) { return fold_sum<U>(r); }
template <int U> INLINE float folded(const vf* r, Max) { return fold_max<U>(r); }
template <int U> INLINE float folded(const vf* r, Min) { return fold_min<U>(r); }
template <class R, class T> static void reduce(View<T> d, View<T> a, int axis, R how) {
  if (axis == 1) {
    for (int64_t i = 0; i < a.rows; ++i) {
      vf r[4] = {all(R::none), all(R::none), all(R::none), all(R::none)};
      const T* const p = &a.at(i, 0);
      sweep<4>(a.cols, [&](auto q, int64_t j, int u) EACH {
        r[u] = R::join(r[u], keep(load(p + j, q), R::none, q));
      });
      set(d.at(i, 0), folded<4>(r, how));
    }
    return;
  }
  sweep<1>(a.cols, [&](auto q, int64_t j, int) EACH {
    vf r = load(&a.at(0, j), q);
    for (int64_t i = 1; i < a.rows; ++i) r = R::join(r, load(&a.at(i, j), q));
    put(&d.at(0, j), r, q);
  });
}
struct Product {};
template <class T> static void reduce(View<T> d, View<T> a, int axis, Product) {
  const int64_t lines = axis == 1 ? a.rows : a.cols, size = axis == 1 ? a.cols : a.rows;
  for (int64_t i = 0; i < lines; ++i) {
    double r = 1;
    for (int64_t j = 0; j < size; ++j) r *= number(axis == 1 ? a.at(i, j) : a.at(j, i));
    set(axis == 1 ? d.at(i, 0) : d.at(0, i), (float)r);
  }
}
template <class T> static float product(View<T> a) {
  double r = 1;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.cols; ++j) r *= number(a.at(i, j));
  return (float)r;
}
// Adds to global memory while other cores may do so too.
template <class T> static void add_to(View<T> d, View<T> a) {
#pragma omp critical(kernelwright_add_to)
  for (int64_t i = 0; i < d.rows; ++i)
    for (int64_t j = 0; j < d.cols; ++j)
      set(d.at(i, j), (decltype(number(T{})))(number(d.at(i, j)) + number(a.at(i, j))));
}
struct Scratch {  // global memory that lives as long as a call
  void* p = nullptr;
  ~Scratch() { std::free(p); }
  void* get(int64_t bytes, bool is_zero) {
    const size_t size = ((size_t)bytes + 127) / 64 * 64;
    std::free(p);
    p = std::aligned_alloc(64, size);
    if (p && is_zero) std::memset(p, 0, size);
    return p;
  }
};
INLINE int64_t num_cores() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}
constexpr int64_t UB_BYTES = 196608;
// Cores that never meet: as many at a time as there are threads.
template <class Step> static void apart(int64_t cores, Step step) {
  if (cores == 1) return step(0);
#pragma omp parallel for schedule(static)
  for (int64_t core = 0; core < cores; ++core) step(core);
}
// Cores that meet at barriers: a thread each, or nothing is done.
template <class Step> static bool together(int64_t cores, Step step) {
  if (cores == 1) return step(0), true;
#ifdef _OPENMP
  bool is_done = false;
#pragma omp parallel num_threads((int)cores)
  if (omp_get_num_threads() == cores) {
    step(omp_get_thread_num());
#pragma omp single
    is_done = true;
  }
  return is_done;
#else
  return false;
#endif
}
