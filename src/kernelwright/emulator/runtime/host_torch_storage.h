// Memory behind the tensors of a binding.
#pragma once
#include <cstddef>
#include <cstdint>
#include "kw/torch_factories.h"

namespace kw {

// Owned memory, or memory of the caller's tensor number `argument`.
struct TensorStorage {
  TensorStorage(size_t bytes, int fill);
  TensorStorage(void* data, size_t bytes, int argument);
  ~TensorStorage();
  TensorStorage(const TensorStorage&) = delete;
  uint8_t* data = nullptr;
  size_t bytes = 0;
  int argument = -1;
  bool isOwned = true;
};

int dtypeOf(c10::ScalarType type);              // as ge::DataType
c10::ScalarType scalarTypeOf(int dtype);        // from ge::DataType
double readNumber(const void* at, c10::ScalarType type);
void writeNumber(void* at, c10::ScalarType type, const c10::Scalar& value);

}  // namespace kw
