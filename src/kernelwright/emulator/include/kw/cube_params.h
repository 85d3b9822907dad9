// Parameters of the cube unit's instructions.
#pragma once
#include <cstdint>
#include "kw/half.h"

enum class QuantMode_t : uint8_t {
  NoQuant, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8_PRE, VQF322B8_PRE, REQ8, VREQ8
};
using QuantMode = QuantMode_t;
constexpr QuantMode_t NoQuant = QuantMode_t::NoQuant;
constexpr QuantMode_t F322F16 = QuantMode_t::F322F16;
constexpr QuantMode_t F322BF16 = QuantMode_t::F322BF16;
constexpr QuantMode_t DEQF16 = QuantMode_t::DEQF16;
constexpr QuantMode_t VDEQF16 = QuantMode_t::VDEQF16;
constexpr QuantMode_t QF322B8_PRE = QuantMode_t::QF322B8_PRE;
constexpr QuantMode_t VQF322B8_PRE = QuantMode_t::VQF322B8_PRE;
constexpr QuantMode_t REQ8 = QuantMode_t::REQ8;
constexpr QuantMode_t VREQ8 = QuantMode_t::VREQ8;

namespace AscendC {

struct LoadData2DParams {
  LoadData2DParams() = default;
  LoadData2DParams(uint16_t start, uint8_t repeats, uint16_t stride, uint8_t reserved, uint16_t gap,
                   bool transposes, uint8_t mode)
      : startIndex(start), dstGap(gap), srcStride(stride), ifTranspose(transposes),
        repeatTimes(repeats), sid(reserved), addrMode(mode) {}
  uint16_t startIndex = 0;
  uint16_t dstGap = 0;
  uint16_t srcStride = 0;
  bool ifTranspose = false;
  uint8_t repeatTimes = 0;
  uint8_t sid = 0;
  uint8_t addrMode = 0;
};

struct LoadData2dTransposeParams {
  LoadData2dTransposeParams() = default;
  LoadData2dTransposeParams(uint16_t start, uint8_t repeats, uint16_t stride, uint16_t gap,
                            uint16_t fractalGap, uint8_t mode = 0)
      : startIndex(start), repeatTimes(repeats), srcStride(stride), dstGap(gap),
        dstFracGap(fractalGap), addrMode(mode) {}
  uint16_t startIndex = 0;
  uint8_t repeatTimes = 0;
  uint16_t srcStride = 0;
  uint16_t dstGap = 0;
  uint16_t dstFracGap = 0;
  uint8_t addrMode = 0;
};

template <typename T>
struct LoadData3DParamsV2 {
  uint8_t padList[4] = {0, 0, 0, 0};  // left, right, top, bottom
  uint16_t l1H = 0;
  uint16_t l1W = 0;
  uint16_t channelSize = 0;
  uint16_t kExtension = 0;
  uint16_t mExtension = 0;
  uint16_t kStartPt = 0;
  uint16_t mStartPt = 0;
  uint8_t strideW = 1;
  uint8_t strideH = 1;
  uint8_t filterW = 1;
  uint8_t filterH = 1;
  uint8_t dilationFilterW = 1;
  uint8_t dilationFilterH = 1;
  bool enTranspose = false;
  bool enSmallK = false;
  T padValue = T(0);
  bool filterSizeW = false;
  bool filterSizeH = false;
  bool fMatrixCtrl = false;
};

struct MmadParams {
  MmadParams() = default;
  MmadParams(uint16_t rows, uint16_t columns, uint16_t depth)
      : m(rows), n(columns), k(depth) {}
  MmadParams(uint16_t rows, uint16_t columns, uint16_t depth, uint8_t flag, bool fromBias,
             bool fromZero)
      : m(rows), n(columns), k(depth), unitFlag(flag), cmatrixSource(fromBias),
        cmatrixInitVal(fromZero) {}
  uint16_t m = 0;
  uint16_t n = 0;
  uint16_t k = 0;
  bool isBias = false;
  uint32_t fmOffset = 0;
  bool enSsparse = false;
  bool enWinogradA = false;
  bool enWinogradB = false;
  uint8_t unitFlag = 0;
  bool gemvCtrl = false;
  bool disableGemv = false;
  bool kDirectionAlign = false;
  bool cmatrixSource = false;
  bool cmatrixInitVal = true;
};

enum class CO2Layout : uint8_t { NZ, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
  CO2Layout format;
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

struct FixpipeParamsV220 {
  FixpipeParamsV220() = default;
  FixpipeParamsV220(uint16_t columns, uint16_t rows, uint16_t srcStep, uint32_t dstStep, bool relu)
      : nSize(columns), mSize(rows), srcStride(srcStep), dstStride(dstStep), reluEn(relu) {}
  FixpipeParamsV220(uint16_t columns, uint16_t rows, uint16_t srcStep, uint32_t dstStep, bool relu,
                    QuantMode_t quant, uint64_t scale, uint16_t count, uint16_t srcNd,
                    uint16_t dstNd, uint8_t flag)
      : nSize(columns), mSize(rows), srcStride(srcStep), dstStride(dstStep), quantPre(quant),
        deqScalar(scale), ndNum(count), srcNdStride(srcNd), dstNdStride(dstNd), reluEn(relu),
        unitFlag(flag) {}
  uint16_t nSize = 0;
  uint16_t mSize = 0;
  uint16_t srcStride = 0;
  uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
  uint16_t ndNum = 1;
  uint16_t srcNdStride = 0;
  uint16_t dstNdStride = 0;
  bool reluEn = false;
  uint8_t unitFlag = 0;
  bool isChannelSplit = false;
};
using FixpipeParams = FixpipeParamsV220;

struct DataCopyCO12DstParams {
  DataCopyCO12DstParams() = default;
  DataCopyCO12DstParams(uint16_t columns, uint16_t rows, uint32_t dstStep, uint16_t srcStep,
                        QuantMode_t quant, uint8_t relu, bool splits, bool toNd)
      : nSize(columns), mSize(rows), dstStride(dstStep), srcStride(srcStep), quantPre(quant),
        reluPre(relu), channelSplit(splits), nz2ndEn(toNd) {}
  uint8_t sid = 0;
  uint16_t nSize = 0;
  uint16_t mSize = 0;
  uint32_t dstStride = 0;
  uint16_t srcStride = 0;
  uint8_t unitFlag = 0;
  uint8_t clipReluPre = 0;
  uint8_t eltWiseOp = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint8_t reluPre = 0;
  bool channelSplit = false;
  bool nz2ndEn = false;
};

template <typename T>
struct InitConstValueParams {
  InitConstValueParams() = default;
  InitConstValueParams(uint16_t repeats, uint16_t blocks, uint16_t gap, T value)
      : repeatTimes(repeats), blockNum(blocks), dstGap(gap), initValue(value) {}
  InitConstValueParams(uint16_t repeats, T value) : repeatTimes(repeats), initValue(value) {}
  uint16_t repeatTimes = 0;
  uint16_t blockNum = 0;
  uint16_t dstGap = 0;
  T initValue = T(0);
};

enum class HF32Mode : uint8_t { DISABLE, ENABLE, Disable = DISABLE, Enable = ENABLE };
enum class HF32TransMode : uint8_t { DISABLE, ENABLE };

}  // namespace AscendC
