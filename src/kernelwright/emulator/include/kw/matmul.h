// The Matmul API of a vector core in a MIX kernel: by its contract, over whole products.
#pragma once
#include <tuple>
#include "kernel_operator.h"
#include "kw/matmul_abi.h"
#include "kw/matmul_regist.h"
#include "kw/matmul_types.h"

namespace kw {

constexpr MatrixLayout matrixLayout(CubeFormat format) {
  switch (format) {
    case CubeFormat::NZ: return MatrixLayout::kNz;
    case CubeFormat::ND_ALIGN: return MatrixLayout::kNdAligned;
    case CubeFormat::VECTOR: return MatrixLayout::kVector;
    default: return MatrixLayout::kNd;
  }
}

// Whether this fibre is the cube core that serves the vector cores' products.
bool isMatmulServer();

}  // namespace kw

namespace AscendC {

template <class A, class B, class C, class Bias = C, const auto& config = CFG_NORM,
          class CallBack = MatmulCallBackFunc<>, typename... Policies>
class MatmulImpl {
  using AT = typename A::T;
  using BT = typename B::T;
  using CT = typename C::T;
  using BiasT = typename Bias::T;

 public:
  KW_API void Init(const TCubeTiling* tiling, TPipe* pipe = nullptr) {
    (void)pipe;
    kw::matmulInit(state_, tiling);
    state_.layoutA = static_cast<uint8_t>(A::layout_);
    state_.layoutB = static_cast<uint8_t>(B::layout_);
    state_.layoutC = static_cast<uint8_t>(C::layout_);
  }
  KW_API void SetTensorA(const GlobalTensor<AT>& gm, bool isTransposeA = false) {
    state_.a = matrix<AT>(gm.GetPhyAddr(), true, A::format, isTransposeA);
  }
  KW_API void SetTensorA(const LocalTensor<AT>& local, bool isTransposeA = false) {
    state_.a = matrix<AT>(local.GetPhyAddr(), false, A::format, isTransposeA);
  }
  KW_API void SetTensorB(const GlobalTensor<BT>& gm, bool isTransposeB = false) {
    state_.b = matrix<BT>(gm.GetPhyAddr(), true, B::format, isTransposeB);
  }
  KW_API void SetTensorB(const LocalTensor<BT>& local, bool isTransposeB = false) {
    state_.b = matrix<BT>(local.GetPhyAddr(), false, B::format, isTransposeB);
  }
  KW_API void SetBias(const GlobalTensor<BiasT>& gm) {
    state_.bias = matrix<BiasT>(gm.GetPhyAddr(), true, CubeFormat::VECTOR, false);
    state_.hasBias = true;
  }
  KW_API void SetBias(const LocalTensor<BiasT>& local) {
    state_.bias = matrix<BiasT>(local.GetPhyAddr(), false, CubeFormat::VECTOR, false);
    state_.hasBias = true;
  }
  KW_API void ClearBias() { state_.hasBias = false; }
  KW_API void DisableBias() { state_.hasBias = false; }
  KW_API void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
    if (tailM != -1) state_.m = tailM;
    if (tailN != -1) state_.n = tailN;
    if (tailK != -1) state_.k = tailK;
  }
  KW_API void SetSingleShape(int singleM, int singleN, int singleK) {
    SetTail(singleM, singleN, singleK);
  }
  KW_API void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK, orgN); }
  KW_API void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
    state_.orgM = orgM;
    state_.orgN = orgN;
    state_.orgKa = orgKa;
    state_.orgKb = orgKb;
    state_.orgKc = orgKc != 0 ? orgKc : orgN;
  }
  KW_API void SetHF32(bool enableHF32 = false, int32_t transMode = 0) {
    (void)transMode;
    state_.isHf32 = enableHF32;
  }
  KW_API void SetQuantScalar(uint64_t scalar) { state_.quantScalar = scalar; }
  KW_API void SetQuantVector(const GlobalTensor<uint64_t>& scales) {
    state_.quantVector = scales.GetPhyAddr();
  }
  KW_API void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
  template <class T>
  KW_API void SetWorkspace(GlobalTensor<T>&) {}
  template <class T>
  KW_API void SetWorkspace(__gm__ const T*, int) {}
  KW_API void SetSubBlockIdx(uint8_t) {}
  KW_API void SetUserDefInfo(uint64_t) {}
  template <class T>
  KW_API void SetSelfDefineData(T) {}
  KW_API void SetBatchNum(int32_t batchA, int32_t batchB) {
    state_.batchesA = batchA;
    state_.batchesB = batchB;
  }

  template <bool sync = true>
  KW_API bool Iterate(bool enPartialSum = false) { return kw::matmulStep(state_, enPartialSum); }
  template <bool sync = true>
  KW_API void GetTensorC(const GlobalTensor<CT>& gm, uint8_t enAtomic = 0,
                         bool enSequentialWrite = false) {
    hand(enAtomic, enSequentialWrite);
    kw::matmulBlock(state_, matrix<CT>(gm.GetPhyAddr(), true, C::format, false));
  }
  template <bool sync = true>
  KW_API void GetTensorC(const LocalTensor<CT>& local, uint8_t enAtomic = 0,
                         bool enSequentialWrite = false) {
    (void)enSequentialWrite;  // a block in on-chip memory always lies by itself
    hand(enAtomic, true);
    kw::matmulBlock(state_, matrix<CT>(local.GetPhyAddr(), false, C::format, false));
  }
  template <bool sync = true>
  KW_API void GetTensorC(const GlobalTensor<CT>& gm, const LocalTensor<CT>& local,
                         uint8_t enAtomic = 0, bool enSequentialWrite = false) {
    GetTensorC<sync>(gm, enAtomic, enSequentialWrite);
    GetTensorC<sync>(local, enAtomic, enSequentialWrite);
  }
  template <bool sync = true>
  KW_API void IterateAll(const GlobalTensor<CT>& gm, uint8_t enAtomic = 0,
                         bool enSequentialWrite = false, bool waitIterateAll = false,
                         bool fakeMsg = false) {
    (void)waitIterateAll;
    (void)fakeMsg;
    hand(enAtomic, enSequentialWrite);
    kw::matmulAll(state_, matrix<CT>(gm.GetPhyAddr(), true, C::format, false));
  }
  template <bool sync = true>
  KW_API void IterateAll(const LocalTensor<CT>& local, uint8_t enAtomic = 0) {
    hand(enAtomic, false);
    kw::matmulAll(state_, matrix<CT>(local.GetPhyAddr(), false, C::format, false));
  }
  template <bool sync = true, bool waitIterateBatch = false>
  KW_API void IterateBatch(const GlobalTensor<CT>& gm, uint32_t batchA, uint32_t batchB,
                           bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                           const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0) {
    setBatch(batchA, batchB, matrixStrideA, matrixStrideB, matrixStrideC);
    hand(0, enSequentialWrite);
    kw::matmulBatch(state_, matrix<CT>(gm.GetPhyAddr(), true, C::format, false));
  }
  template <bool sync = true>
  KW_API void IterateBatch(const LocalTensor<CT>& local, uint32_t batchA, uint32_t batchB,
                           bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                           const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0) {
    setBatch(batchA, batchB, matrixStrideA, matrixStrideB, matrixStrideC);
    hand(0, enSequentialWrite);
    kw::matmulBatch(state_, matrix<CT>(local.GetPhyAddr(), false, C::format, false));
  }
  KW_API void WaitIterateAll() {}
  KW_API void WaitIterateBatch() {}
  KW_API void WaitGetTensorC() {}
  KW_API uint64_t GetOffsetC() { return kw::matmulBlockOffset(state_); }
  KW_API void End() { kw::matmulEnd(state_); }

 private:
  template <typename T>
  KW_API kw::Matrix matrix(const void* data, bool isGlobal, CubeFormat format, bool isTransposed) {
    kw::Matrix out;
    out.data = data;
    out.dtype = kw::kDtypeOf<T>;
    out.isGlobal = isGlobal;
    out.isTransposed = isTransposed;
    out.layout = kw::matrixLayout(format);
    return out;
  }
  KW_API void hand(uint8_t atomic, bool isSequential) {
    state_.atomic = atomic;
    state_.isSequential = isSequential;
  }
  KW_API void setBatch(uint32_t batchA, uint32_t batchB, uint32_t strideA, uint32_t strideB,
                       uint32_t strideC) {
    state_.batchesA = static_cast<int32_t>(batchA);
    state_.batchesB = static_cast<int32_t>(batchB);
    state_.strideA = strideA;
    state_.strideB = strideB;
    state_.strideC = strideC;
  }

  kw::MatmulState state_;
};

template <class A, class B, class C, class Bias = C, const auto& config = CFG_NORM,
          class CallBack = MatmulCallBackFunc<>, typename... Policies>
using Matmul = MatmulImpl<A, B, C, Bias, config, CallBack, Policies...>;

}  // namespace AscendC

namespace matmul {
using namespace AscendC;
using AscendC::Matmul;
using AscendC::MatmulCallBackFunc;
using AscendC::MatmulImpl;
using AscendC::MatmulType;
using AscendC::TPosition;
}  // namespace matmul

// A kernel with this header is a MIX kernel: one cube core with two vector cores to a block.
extern "C" __attribute__((used, visibility("default"))) inline const int kw_uses_matmul_api = 1;

// The cube core serves the products and does nothing else of the kernel.
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...) \
  (void)(tpipe);                                 \
  (void)(workspace);                             \
  if (kw::isMatmulServer()) return;              \
  kw::initMatmuls(__VA_ARGS__)
