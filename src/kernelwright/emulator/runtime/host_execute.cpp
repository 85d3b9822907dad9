// One operator call from the binding's arguments to the kernel's results.
#include <setjmp.h>
#include <signal.h>
#include <chrono>
#include <cstring>
#include "graph/utils/type_utils.h"
#include "host_call.h"
#include "host_fault.h"
#include "host_launch.h"
#include "host_platform.h"

namespace kw {

namespace {

sigjmp_buf g_recovery;

void onCrash(int signal) { siglongjmp(g_recovery, signal); }

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};

// Runs a host function of the project; a crash inside it is the project's fault, not ours.
// Returns the signal, 0 for a normal return.
template <typename F>
int guarded(F&& function) {
  struct sigaction before[4];
  struct sigaction action = {};
  action.sa_handler = onCrash;
  action.sa_flags = SA_NODEFER;
  int signal = sigsetjmp(g_recovery, 1);
  if (signal == 0) {
    for (size_t i = 0; i < 4; ++i) sigaction(kCrashes[i], &action, &before[i]);
    function();
  }
  for (size_t i = 0; i < 4; ++i) sigaction(kCrashes[i], &before[i], nullptr);
  return signal;
}

const char* crashWords(int signal) {
  if (signal == SIGFPE) return "divided by zero";
  if (signal == SIGABRT) return "aborted";
  return "read or wrote through a bad pointer";
}

std::string lastSentence(const HostCall& call) {
  if (call.faults.empty()) return "";
  const std::string& fault = call.faults.back();
  size_t start = fault.find("\"message\":\"") + 11;
  return fault.substr(start, fault.size() - start - 2);
}

std::string inputsText(const HostCall& call) {
  std::string out;
  for (const Operand& operand : call.inputs) {
    out += (out.empty() ? "" : ", ") + operand.definition->name() + " " +
           shapeText(operand.shape.GetOriginShape()) + " " + dtypeName(operand.given.dtype);
  }
  return out;
}

void checkTilingResult(HostCall& call) {
  const HostPlatform& chip = hostPlatform();
  if (call.blockDim == 0) {
    hostFault("HOST_NO_BLOCK_DIM", HostSeverity::kError,
              "the tiling function set no block dim (or 0); call SetBlockDim with at least 1");
    throw HostError(lastSentence(call));
  }
  if (call.blockDim > 65535) {
    hostFault("HOST_BLOCK_DIM_TOO_LARGE", HostSeverity::kError,
              "the tiling function set a block dim of " + std::to_string(call.blockDim) +
                  "; at most 65535 blocks can be launched");
    throw HostError(lastSentence(call));
  }
  uint64_t cores = chip.is_split != 0 ? chip.aiv_cores : chip.aic_cores;
  if (call.blockDim > cores) {
    hostFault("HOST_MORE_BLOCKS_THAN_CORES", HostSeverity::kWarning,
              "the block dim " + std::to_string(call.blockDim) + " is beyond the chip's " +
                  std::to_string(cores) + " vector cores: blocks wait for a free core, and "
                  "SyncAll would hang");
  }
  if (call.tilingData.GetDataSize() == 0 && !call.tilingJson.empty()) {
    hostFault("HOST_TILING_SIZE_NOT_SET", HostSeverity::kError,
              "the tiling data was saved but SetDataSize was not called, so the kernel gets none "
              "of it; call GetRawTilingData()->SetDataSize(tiling.GetDataSize())");
  }
  if (call.workspaces.empty()) {
    hostFault("HOST_NO_WORKSPACE_SIZE", HostSeverity::kWarning,
              "the tiling function set no workspace size; set GetWorkspaceSizes(1)[0], to 0 "
              "where the kernel needs none");
  }
}

void checkOutputs(HostCall& call) {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const Operand& output = call.outputs[i];
    const gert::Shape& given = output.shape.GetOriginShape();
    if (call.record->inferShape != nullptr && call.inferredShapes[i] != given) {
      hostFault("HOST_INFER_SHAPE_DIFFERS", HostSeverity::kWarning,
                "InferShape says that output " + quoted(output.definition->name()) + " is " +
                    shapeText(call.inferredShapes[i]) + " but the binding allocated " +
                    shapeText(given));
    }
    if (call.record->inferType != nullptr &&
        call.inferredTypes[i] != static_cast<ge::DataType>(output.given.dtype)) {
      hostFault("HOST_INFER_DTYPE_DIFFERS", HostSeverity::kWarning,
                "InferDataType says that output " + quoted(output.definition->name()) + " is " +
                    dtypeName(call.inferredTypes[i]) + " but the binding allocated " +
                    dtypeName(output.given.dtype));
    }
  }
}

std::vector<std::string>& reports() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

void addDirectReport(const KernelLaunch& launch, const std::string& report) {
  reports().push_back("{\"operator\":" + quoted(launch.name) + ",\"block_dim\":" +
                      std::to_string(launch.blockDim) + ",\"faults\":[],\"launch\":" + report + "}");
}

namespace {

struct Recorded {
  explicit Recorded(HostCall* call) { currentCall() = call; }
  ~Recorded() {
    reports().push_back(callJson(*currentCall()));
    currentCall() = nullptr;
  }
};

}  // namespace

bool& isDryRun() {
  static bool isDry = false;
  return isDry;
}

void runTiling(HostCall& call) {
  OpRecord& record = *call.record;
  if (record.tiling == nullptr) {
    hostFault("HOST_NO_TILING", HostSeverity::kError,
              "operator " + quoted(record.definition->type()) +
                  " has no tiling function; call AICore().SetTiling in its definition");
    throw HostError(lastSentence(call));
  }
  call.phase = "the tiling function";
  if (record.makeCompileInfo != nullptr && record.compileInfo == nullptr) {
    record.compileInfo = record.makeCompileInfo();
    gert::TilingParseContext parse(&call);
    if (record.parse != nullptr) record.parse(&parse);
  }
  gert::TilingContext context(&call);
  ge::graphStatus status = ge::GRAPH_FAILED;
  int signal = guarded([&] { status = record.tiling(&context); });
  if (signal != 0) {
    std::string earlier = lastSentence(call);
    hostFault("HOST_TILING_CRASHED", HostSeverity::kError,
              std::string("the tiling function ") + crashWords(signal) + " for " +
                  inputsText(call) + (earlier.empty() ? "" : "; before that: " + earlier));
    throw HostError("the tiling function crashed");
  }
  if (status != ge::GRAPH_SUCCESS) {
    hostFault("HOST_TILING_FAILED", HostSeverity::kError,
              "the tiling function returned GRAPH_FAILED for " + inputsText(call));
    throw HostError("the tiling function returned GRAPH_FAILED for " + inputsText(call));
  }
  checkTilingResult(call);
}

void runInference(HostCall& call) {
  OpRecord& record = *call.record;
  call.inferredShapes.assign(call.outputs.size(), gert::Shape());
  call.inferredTypes.assign(call.outputs.size(), ge::DT_UNDEFINED);
  ge::graphStatus status = ge::GRAPH_SUCCESS;
  const char* what = "InferShape";
  int signal = guarded([&] {
    call.phase = what;
    gert::InferShapeContext shapes(&call);
    if (record.inferShape != nullptr) status = record.inferShape(&shapes);
    if (status != ge::GRAPH_SUCCESS || record.inferType == nullptr) return;
    call.phase = what = "InferDataType";
    gert::InferDataTypeContext types(&call);
    status = record.inferType(&types);
  });
  if (signal != 0 || status != ge::GRAPH_SUCCESS) {
    hostFault("HOST_INFER_FAILED", HostSeverity::kWarning,
              std::string(what) + (signal != 0 ? std::string(" ") + crashWords(signal)
                                               : std::string(" returned GRAPH_FAILED")) +
                  " for " + inputsText(call) + ": the operator cannot be used in a graph");
    return;
  }
  checkOutputs(call);
}

void execute(const char* api, std::vector<ExecArg> args) {
  std::string type = std::strncmp(api, "aclnn", 5) == 0 ? api + 5 : api;
  HostCall call;
  call.record = findOperator(type);
  if (call.record == nullptr) {
    std::string known;
    for (const std::string& name : operatorTypes()) known += (known.empty() ? "aclnn" : ", aclnn") + name;
    throw HostError(std::string(api) + " is not in the operator library; it has: " +
                    (known.empty() ? "nothing" : known));
  }
  Recorded recorded(&call);
  auto start = std::chrono::steady_clock::now();
  fillOperands(call, std::move(args));
  runInference(call);
  runTiling(call);
  call.hostSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (isDryRun()) return;
  runKernel(call);
  writeBack(call);
}

}  // namespace kw

extern "C" const char* kw_host_reports() {
  static std::string joined;
  joined = "[";
  for (const std::string& report : kw::reports()) {
    if (joined.size() > 1) joined += ",";
    joined += report;
  }
  joined += "]";
  return joined.c_str();
}

extern "C" void kw_host_dry_run(int isDry) { kw::isDryRun() = isDry != 0; }

extern "C" void kw_host_forget_reports() { kw::reports().clear(); }

extern "C" const char* kw_host_operators() {
  static std::string text;
  text = kw::operatorsJson();
  return text.c_str();
}
