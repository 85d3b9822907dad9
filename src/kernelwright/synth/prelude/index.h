INLINE int64_t index_in(int64_t at, int64_t size) { return at < 0 ? 0 : at < size ? at : size - 1; }
