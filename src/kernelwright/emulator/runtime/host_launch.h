// What the host hands to the emulated chip for one launch.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace kw {

// A range of global memory that the kernel may touch.
struct GlobalRange {
  void* start;
  uint64_t bytes;
  std::string name;
};

struct KernelLaunch {
  std::string name;
  void (*body)(void* context) = nullptr;  // one block's work
  void* context = nullptr;
  uint32_t blockDim = 1;
  uint64_t tilingKey = 0;
  uint32_t scheduleMode = 0;
  bool usesMatmul = false;  // a library with the Matmul API
  const void* tiling = nullptr;
  uint64_t tilingBytes = 0;
  std::vector<GlobalRange> ranges;
};

// Runs all blocks; returns the report as JSON.
std::string launchOnChip(const KernelLaunch& launch);

// The memory of every tensor that a binding holds now: what a direct launch may touch.
std::vector<GlobalRange> liveTensors();
// Keeps the report of a launch that no operator call made.
void addDirectReport(const KernelLaunch& launch, const std::string& report);

}  // namespace kw
