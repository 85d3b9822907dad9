// Kernels of the project: libraries by operator and combination, and their launch for a call.
#include <dlfcn.h>
#include <cstring>
#include <map>
#include "graph/utils/type_utils.h"
#include "host_call.h"
#include "host_fault.h"
#include "host_launch.h"
#include "host_platform.h"

namespace kw {

namespace {

struct KernelLibrary {
  std::string path;
  void (*entry)(void**) = nullptr;
  bool usesMatmul = false;
};

std::map<std::string, KernelLibrary>& libraries() {
  static std::map<std::string, KernelLibrary> all;
  return all;
}

std::string keyOf(const std::string& type, size_t combination) {
  return type + "#" + std::to_string(combination);
}

KernelLibrary& libraryFor(const HostCall& call) {
  const std::string& type = call.record->definition->type();
  auto found = libraries().find(keyOf(type, call.combination));
  if (found == libraries().end()) {
    std::string message = "the kernel of " + type + " is not built for data type combination " +
                          std::to_string(call.combination);
    hostFault("HOST_KERNEL_NOT_BUILT", HostSeverity::kError, message);
    throw HostError(message);
  }
  KernelLibrary& library = found->second;
  if (library.entry != nullptr) return library;
  void* handle = dlopen(library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* entry = handle == nullptr ? nullptr : dlsym(handle, "kw_entry");
  if (entry == nullptr) {
    const char* why = dlerror();
    std::string message = "the kernel library of " + type + " cannot be loaded: " +
                          (why == nullptr ? "it has no entry" : why);
    hostFault("HOST_KERNEL_NOT_LOADED", HostSeverity::kError, message);
    throw HostError(message);
  }
  std::memcpy(&library.entry, &entry, sizeof entry);
  library.usesMatmul = dlsym(handle, "kw_uses_matmul_api") != nullptr;
  return library;
}

uint64_t bytesOf(const Operand& operand) {
  return operand.tensor.GetSize();
}

// Workspace starts with what another kernel left there; a pattern makes reading it visible. The
// part that library calls own is left alone.
std::unique_ptr<uint8_t[]> makeWorkspace(const HostCall& call, uint64_t& bytes) {
  bytes = 0;
  for (size_t size : call.workspaces) bytes += size;
  if (bytes == 0) return nullptr;
  std::unique_ptr<uint8_t[]> memory(new uint8_t[bytes + 512]);
  uint64_t system = hostPlatform().system_workspace_bytes;
  uint64_t from = bytes >= system ? system : 0;
  std::memset(memory.get() + from, 0xA5, bytes + 512 - from);
  return memory;
}

struct Context {
  void (*entry)(void**);
  void** args;
};

void runBlock(void* context) {
  auto* block = static_cast<Context*>(context);
  block->entry(block->args);
}

void initialiseOutputs(HostCall& call) {
  for (Operand& output : call.outputs) {
    if (output.definition->hasInitValue() && output.definition->initValue() == 0) {
      std::memset(output.kernelData, 0, bytesOf(output));
    }
  }
}

// One argument an operand of the definition; null where an optional input was not passed.
void addArguments(const std::vector<Operand>& operands, size_t count, std::vector<void*>& args) {
  size_t first = args.size();
  args.resize(first + count, nullptr);
  for (const Operand& operand : operands) {
    if (operand.relative == 0) args[first + operand.irIndex] = operand.kernelData;
  }
}

}  // namespace

void runKernel(HostCall& call) {
  KernelLibrary& library = libraryFor(call);
  const ops::OpDef& definition = *call.record->definition;
  initialiseOutputs(call);
  uint64_t workspaceBytes = 0;
  std::unique_ptr<uint8_t[]> workspace = makeWorkspace(call, workspaceBytes);
  uint8_t* workspaceStart = nullptr;
  if (workspace != nullptr) {
    auto address = reinterpret_cast<uintptr_t>(workspace.get());
    workspaceStart = workspace.get() + (512 - address % 512) % 512;
  }
  KernelLaunch launch;
  launch.usesMatmul = library.usesMatmul;
  std::vector<void*> args;
  addArguments(call.inputs, definition.inputs().size(), args);
  addArguments(call.outputs, definition.outputs().size(), args);
  args.push_back(workspaceStart);
  args.push_back(call.tilingData.GetData());
  for (const auto* side : {&call.inputs, &call.outputs}) {
    for (const Operand& operand : *side) {
      launch.ranges.push_back({operand.kernelData, bytesOf(operand), operand.definition->name()});
    }
  }
  if (workspaceBytes > 0) launch.ranges.push_back({workspaceStart, workspaceBytes, "workspace"});
  Context context = {library.entry, args.data()};
  launch.name = definition.type();
  launch.body = runBlock;
  launch.context = &context;
  launch.blockDim = call.blockDim;
  launch.tilingKey = call.tilingKey;
  launch.scheduleMode = call.scheduleMode;
  launch.tiling = call.tilingData.GetData();
  launch.tilingBytes = call.tilingData.GetDataSize();
  launch.ranges.push_back({call.tilingData.GetData(), launch.tilingBytes, "tiling"});
  call.launchJson = launchOnChip(launch);
}

std::string callJson(const HostCall& call) {
  std::string out = "{\"operator\":" + quoted(call.record->definition->type()) +
                    ",\"combination\":" + std::to_string(call.combination);
  const char* comma = "";
  for (auto side : {std::make_pair("inputs", &call.inputs),
                    std::make_pair("outputs", &call.outputs)}) {
    out += std::string(",\"") + side.first + "\":[";
    comma = "";
    for (const Operand& operand : *side.second) {
      out += comma + ("{\"name\":" + quoted(operand.definition->name())) + ",\"dtype\":" +
             quoted(dtypeName(operand.given.dtype)) + ",\"shape\":[";
      for (size_t i = 0; i < operand.given.sizes.size(); ++i) {
        out += (i > 0 ? "," : "") + std::to_string(operand.given.sizes[i]);
      }
      out += "]}";
      comma = ",";
    }
    out += "]";
  }
  out += ",\"block_dim\":" + std::to_string(call.blockDim) +
         ",\"tiling_key\":" + std::to_string(call.tilingKey) +
         ",\"schedule_mode\":" + std::to_string(call.scheduleMode) +
         ",\"tiling_bytes\":" + std::to_string(call.tilingData.GetDataSize()) +
         ",\"tiling\":" + (call.tilingJson.empty() ? "null" : call.tilingJson) +
         ",\"workspace_bytes\":[";
  comma = "";
  for (size_t bytes : call.workspaces) {
    out += comma + std::to_string(bytes);
    comma = ",";
  }
  out += "],\"host_us\":" + std::to_string(call.hostSeconds * 1e6) + ",\"faults\":[";
  comma = "";
  for (const std::string& fault : call.faults) {
    out += comma + fault;
    comma = ",";
  }
  return out + "],\"launch\":" + (call.launchJson.empty() ? "null" : call.launchJson) + "}";
}

}  // namespace kw

extern "C" void kw_host_add_kernel(const char* type, uint64_t combination, const char* path) {
  kw::libraries()[kw::keyOf(type, combination)] = {path, nullptr};
}

extern "C" const char* kw_host_load(const char* path) {
  static std::string why;
  if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) != nullptr) return nullptr;
  const char* text = dlerror();
  why = text == nullptr ? "unknown" : text;
  return why.c_str();
}
