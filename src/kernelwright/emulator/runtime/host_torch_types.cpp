// Numbers of every data type, names, and the memory of tensors.
#include <cstdlib>
#include <map>
#include <new>
#include <set>
#include "graph/types.h"
#include "host_call.h"
#include "host_launch.h"
#include "host_torch_storage.h"

namespace kw {

namespace {

struct TypeRow {
  c10::ScalarType type;
  int dtype;
  size_t bytes;
  const char* name;
};

using c10::ScalarType;
const TypeRow kRows[] = {
    {ScalarType::Byte, ge::DT_UINT8, 1, "Byte"},     {ScalarType::Char, ge::DT_INT8, 1, "Char"},
    {ScalarType::Short, ge::DT_INT16, 2, "Short"},   {ScalarType::Int, ge::DT_INT32, 4, "Int"},
    {ScalarType::Long, ge::DT_INT64, 8, "Long"},     {ScalarType::Half, ge::DT_FLOAT16, 2, "Half"},
    {ScalarType::Float, ge::DT_FLOAT, 4, "Float"},   {ScalarType::Double, ge::DT_DOUBLE, 8, "Double"},
    {ScalarType::Bool, ge::DT_BOOL, 1, "Bool"},
    {ScalarType::BFloat16, ge::DT_BF16, 2, "BFloat16"},
    {ScalarType::ComplexFloat, ge::DT_COMPLEX64, 8, "ComplexFloat"},
    {ScalarType::ComplexDouble, ge::DT_COMPLEX128, 16, "ComplexDouble"},
    {ScalarType::Undefined, ge::DT_UNDEFINED, 0, "Undefined"},
};

const TypeRow& rowOf(ScalarType type) {
  for (const TypeRow& row : kRows) {
    if (row.type == type) return row;
  }
  return kRows[12];
}

float halfToFloat(uint16_t bits) {
  uint32_t sign = (bits & 0x8000U) << 16, exponent = (bits >> 10) & 0x1F, mantissa = bits & 0x3FF;
  if (exponent == 0) {
    float tiny = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -tiny : tiny;
  }
  uint32_t wide = exponent == 31 ? 0x7F800000U | (mantissa << 13)
                                 : ((exponent + 112) << 23) | (mantissa << 13);
  wide |= sign;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

// Round to nearest, ties to even.
uint16_t floatToHalf(double value) {
  auto single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  uint16_t sign = (bits >> 16) & 0x8000;
  double size = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (size >= 65520.0) return sign | 0x7C00;
  if (size < 6.103515625e-05) return sign | static_cast<uint16_t>(std::nearbyint(size * 16777216.0));
  int exponent;
  double fraction = std::frexp(size, &exponent);  // in [0.5, 1)
  auto mantissa = static_cast<uint32_t>(std::nearbyint(fraction * 2048.0));
  return static_cast<uint16_t>(sign | (((exponent + 13) << 10) + mantissa));
}

uint16_t floatToBfloat(double value) {
  auto single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  if (std::isnan(single)) return 0x7FC0;
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

template <typename T>
void put(void* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <typename T>
T get(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

int dtypeOf(ScalarType type) { return rowOf(type).dtype; }

ScalarType scalarTypeOf(int dtype) {
  for (const TypeRow& row : kRows) {
    if (row.dtype == dtype) return row.type;
  }
  return ScalarType::Undefined;
}

double readNumber(const void* at, ScalarType type) {
  switch (type) {
    case ScalarType::Byte: case ScalarType::Bool: return get<uint8_t>(at);
    case ScalarType::Char: return get<int8_t>(at);
    case ScalarType::Short: return get<int16_t>(at);
    case ScalarType::Int: return get<int32_t>(at);
    case ScalarType::Long: return static_cast<double>(get<int64_t>(at));
    case ScalarType::Half: return halfToFloat(get<uint16_t>(at));
    case ScalarType::Float: return get<float>(at);
    case ScalarType::BFloat16: {
      uint32_t wide = static_cast<uint32_t>(get<uint16_t>(at)) << 16;
      return get<float>(&wide);
    }
    default: return get<double>(at);
  }
}

void writeNumber(void* at, ScalarType type, const c10::Scalar& value) {
  switch (type) {
    case ScalarType::Bool: return put<uint8_t>(at, value.toBool() ? 1 : 0);
    case ScalarType::Byte: return put<uint8_t>(at, static_cast<uint8_t>(value.toLong()));
    case ScalarType::Char: return put<int8_t>(at, static_cast<int8_t>(value.toLong()));
    case ScalarType::Short: return put<int16_t>(at, static_cast<int16_t>(value.toLong()));
    case ScalarType::Int: return put<int32_t>(at, static_cast<int32_t>(value.toLong()));
    case ScalarType::Long: return put<int64_t>(at, value.toLong());
    case ScalarType::Half: return put<uint16_t>(at, floatToHalf(value.toDouble()));
    case ScalarType::BFloat16: return put<uint16_t>(at, floatToBfloat(value.toDouble()));
    case ScalarType::Float: return put<float>(at, value.toFloat());
    default: return put<double>(at, value.toDouble());
  }
}

namespace {

std::set<const TensorStorage*>& storages() {
  static std::set<const TensorStorage*> all;
  return all;
}

}  // namespace

std::vector<GlobalRange> liveTensors() {
  std::map<uint8_t*, GlobalRange> ranges;  // two tensors may share the caller's memory
  for (const TensorStorage* storage : storages()) {
    std::string name = storage->isOwned ? "a tensor of the binding"
                                        : "argument " + std::to_string(storage->argument);
    GlobalRange& range = ranges[storage->data];
    if (storage->bytes > range.bytes) range = {storage->data, storage->bytes, name};
  }
  std::vector<GlobalRange> all;
  for (auto& entry : ranges) all.push_back(entry.second);
  return all;
}

TensorStorage::TensorStorage(size_t size, int fill) : bytes(size) {
  storages().insert(this);
  // The chip's allocator gives multiples of 512 bytes and at least 32 more than asked for.
  size_t room = (size + 32 + 511) / 512 * 512;
  data = static_cast<uint8_t*>(std::aligned_alloc(512, room));
  if (data == nullptr) throw std::bad_alloc();
  if (!isDryRun()) std::memset(data, fill, room);
}

TensorStorage::TensorStorage(void* start, size_t size, int index)
    : data(static_cast<uint8_t*>(start)), bytes(size), argument(index), isOwned(false) {
  storages().insert(this);
}

TensorStorage::~TensorStorage() {
  storages().erase(this);
  if (isOwned) std::free(data);
}

[[noreturn]] void torchCheckFailed(const char* condition, const std::string& message) {
  throw c10::Error(message.empty() ? std::string("Expected ") + condition +
                                         " to be true, but got false."
                                   : message);
}

}  // namespace kw

namespace c10 {

const char* toString(ScalarType type) { return kw::rowOf(type).name; }
size_t elementSize(ScalarType type) { return kw::rowOf(type).bytes; }
std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }
std::ostream& operator<<(std::ostream& out, DeviceType type) {
  return out << (type == DeviceType::CPU ? "cpu" : "npu");
}
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

}  // namespace c10
