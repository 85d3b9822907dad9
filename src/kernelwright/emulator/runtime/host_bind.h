// The C interface through which Python calls a binding.
#pragma once
#include <cstdint>

extern "C" {

// One value; a tensor's memory is the caller's for arguments, the result's for results.
struct KwValue {
  int32_t kind;       // a kw::ValueKind
  int32_t is_tuple;
  int64_t integer;
  double number;
  const char* text;
  int64_t count;      // of `items`, or of dimensions
  const KwValue* items;
  void* data;         // first element
  void* storage;
  int64_t storage_bytes;
  const int64_t* sizes;
  const int64_t* strides;
  int32_t dtype;      // a ge::DataType
  int32_t argument;   // the argument whose memory a result shares, or -1
};

struct KwOutcome;  // owns a result

const char* kw_bind_describe();
// kind 0: fine; 1: the arguments do not fit (TypeError); 2: the binding failed (RuntimeError).
KwOutcome* kw_bind_call(const char* name, const KwValue* args, int64_t count);
int32_t kw_bind_status(const KwOutcome* outcome);
const char* kw_bind_message(const KwOutcome* outcome);
const KwValue* kw_bind_result(const KwOutcome* outcome);
void kw_bind_free(KwOutcome* outcome);
}
