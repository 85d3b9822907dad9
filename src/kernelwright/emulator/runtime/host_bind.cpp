// Functions that a binding registers, and calls from Python.
#include "host_bind.h"
#include <deque>
#include "host_fault.h"
#include "host_torch_storage.h"
#include "kw/torch_bind.h"

namespace kw {

namespace {

struct LibraryEntry {
  std::string library;
  std::string schema;
  bool hasFunction;
};

std::map<std::string, Bound>& functions() {
  static std::map<std::string, Bound> all;
  return all;
}

std::vector<LibraryEntry>& libraryEntries() {
  static std::vector<LibraryEntry> all;
  return all;
}

std::string operatorName(const std::string& schema) { return schema.substr(0, schema.find('(')); }

int g_argument = 0;  // numbers the tensors of one call, in order

Value valueOf(const KwValue& given) {
  Value value;
  value.kind = static_cast<ValueKind>(given.kind);
  value.asInt = given.integer;
  value.asDouble = given.number;
  if (given.text != nullptr) value.asString = given.text;
  if (value.kind == ValueKind::kList) {
    for (int64_t i = 0; i < given.count; ++i) value.items.push_back(valueOf(given.items[i]));
  }
  if (value.kind != ValueKind::kTensor) return value;
  auto state = std::make_shared<at::TensorState>();
  state->sizes.assign(given.sizes, given.sizes + given.count);
  state->strides.assign(given.strides, given.strides + given.count);
  state->type = scalarTypeOf(given.dtype);
  state->device = at::Device(at::DeviceType::PrivateUse1);
  auto bytes = static_cast<int64_t>(c10::elementSize(state->type));
  if (bytes > 0) {
    state->offset = (static_cast<char*>(given.data) - static_cast<char*>(given.storage)) / bytes;
  }
  state->storage = std::make_shared<TensorStorage>(
      given.storage, static_cast<size_t>(given.storage_bytes), g_argument++);
  value.tensor = at::Tensor(std::move(state));
  return value;
}

std::string signature(const Bound& bound) {
  std::string out = bound.name + "(";
  for (size_t i = 0; i < bound.parameters.size(); ++i) {
    const Parameter& parameter = bound.parameters[i];
    out += (i > 0 ? ", " : "") + parameter.name + ": " + parameter.type;
    if (parameter.hasDefault) out += " = ...";
  }
  return out + ")";
}

std::string parametersJson(const Bound& bound) {
  std::string out = "[";
  for (const Parameter& parameter : bound.parameters) {
    out += (out.size() > 1 ? "," : "") + ("{\"name\":" + quoted(parameter.name)) +
           ",\"type\":" + quoted(parameter.type) +
           ",\"has_default\":" + (parameter.hasDefault ? "true" : "false") + "}";
  }
  return out + "]";
}

Value called(Bound& bound, const KwValue* args, int64_t count) {
  // A missing argument has kind -1: its default, if it has one.
  std::vector<Value> values;
  g_argument = 0;
  if (static_cast<size_t>(count) != bound.parameters.size()) {
    throw ArgumentMismatch(std::to_string(bound.parameters.size()) + " arguments, got " +
                           std::to_string(count));
  }
  for (int64_t i = 0; i < count; ++i) {
    const Parameter& parameter = bound.parameters[i];
    if (args[i].kind >= 0) {
      values.push_back(valueOf(args[i]));
    } else if (parameter.hasDefault) {
      values.push_back(parameter.defaultValue);
    } else {
      throw ArgumentMismatch(parameter.name);
    }
  }
  return bound.call(bound.function.get(), values);
}

}  // namespace

void addModuleFunction(Bound bound) {
  std::string name = bound.name;
  functions()[name] = std::move(bound);
}

void addLibraryFunction(const std::string& library, const std::string& schema, Bound bound) {
  bound.name = library + "::" + operatorName(schema);
  libraryEntries().push_back({library, schema, true});
  addModuleFunction(std::move(bound));
}

void addLibrarySchema(const std::string& library, const std::string& schema) {
  libraryEntries().push_back({library, schema, false});
}

c10::ScalarType scalarTypeOfValue(const Value& value) {
  if (value.kind != ValueKind::kType) throw ArgumentMismatch("dtype");
  return scalarTypeOf(static_cast<int>(value.asInt));
}

}  // namespace kw

struct KwOutcome {
  int32_t status = 0;
  std::string message;
  kw::Value value;
  KwValue result = {};
  std::deque<std::vector<KwValue>> lists;

  void fill(const kw::Value& from, KwValue& to) {
    to = {};
    to.kind = static_cast<int32_t>(from.kind);
    to.is_tuple = from.isTuple ? 1 : 0;
    to.integer = from.asInt;
    to.number = from.asDouble;
    to.text = from.asString.c_str();
    to.argument = -1;
    if (from.kind == kw::ValueKind::kList) {
      lists.emplace_back(from.items.size());
      std::vector<KwValue>& list = lists.back();
      for (size_t i = 0; i < list.size(); ++i) fill(from.items[i], list[i]);
      to.items = list.data();
      to.count = static_cast<int64_t>(list.size());
    }
    if (from.kind != kw::ValueKind::kTensor) return;
    const at::TensorState& state = from.tensor.state();
    to.data = from.tensor.data_ptr();
    to.storage = state.storage->data;
    to.storage_bytes = static_cast<int64_t>(state.storage->bytes);
    to.count = static_cast<int64_t>(state.sizes.size());
    to.sizes = state.sizes.data();
    to.strides = state.strides.data();
    to.dtype = kw::dtypeOf(state.type);
    to.argument = state.storage->argument;
  }
};

extern "C" {

const char* kw_bind_describe() {
  static std::string text;
  text = "{\"functions\":[";
  const char* comma = "";
  for (const auto& entry : kw::functions()) {
    text += comma + ("{\"name\":" + kw::quoted(entry.first)) +
            ",\"doc\":" + kw::quoted(entry.second.doc) +
            ",\"parameters\":" + kw::parametersJson(entry.second) + "}";
    comma = ",";
  }
  text += "],\"libraries\":[";
  comma = "";
  for (const kw::LibraryEntry& entry : kw::libraryEntries()) {
    text += comma + ("{\"library\":" + kw::quoted(entry.library)) +
            ",\"schema\":" + kw::quoted(entry.schema) +
            ",\"has_function\":" + (entry.hasFunction ? "true" : "false") + "}";
    comma = ",";
  }
  text += "]}";
  return text.c_str();
}

KwOutcome* kw_bind_call(const char* name, const KwValue* args, int64_t count) {
  auto* outcome = new KwOutcome();
  auto found = kw::functions().find(name);
  if (found == kw::functions().end()) {
    outcome->status = 1;
    outcome->message = std::string("the binding has no function ") + name;
    return outcome;
  }
  try {
    outcome->value = kw::called(found->second, args, count);
    outcome->fill(outcome->value, outcome->result);
  } catch (const kw::ArgumentMismatch& mismatch) {
    outcome->status = 1;
    outcome->message = std::string(name) + "(): incompatible function arguments, wanted " +
                       mismatch.what() + ". It takes " + kw::signature(found->second);
  } catch (const std::exception& error) {
    outcome->status = 2;
    outcome->message = error.what();
  }
  return outcome;
}

int32_t kw_bind_status(const KwOutcome* outcome) { return outcome->status; }
const char* kw_bind_message(const KwOutcome* outcome) { return outcome->message.c_str(); }
const KwValue* kw_bind_result(const KwOutcome* outcome) { return &outcome->result; }
void kw_bind_free(KwOutcome* outcome) { delete outcome; }
}
