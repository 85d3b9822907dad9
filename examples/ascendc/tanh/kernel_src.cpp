#include "kernel_operator.h"

using namespace AscendC;

class KernelTanh {
public:
    __aicore__ inline KernelTanh() {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint64_t length, uint64_t perBlock, uint32_t tile)
    {
        const uint64_t start = GetBlockIdx() * perBlock;
        count = start + perBlock <= length ? perBlock : length - start;
        tileLength = tile;
        xGm.SetGlobalBuffer((__gm__ float*)x + start, count);
        yGm.SetGlobalBuffer((__gm__ float*)y + start, count);
        pipe.InitBuffer(xQueue, 2, tile * sizeof(float));
        pipe.InitBuffer(yQueue, 2, tile * sizeof(float));
        pipe.InitBuffer(work, tile * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (uint64_t offset = 0; offset < count; offset += tileLength) {
            const uint64_t left = count - offset;
            const uint32_t n = left < tileLength ? left : tileLength;
            CopyIn(offset, n);
            Compute(n);
            CopyOut(offset, n);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t offset, uint32_t n)
    {
        LocalTensor<float> x = xQueue.AllocTensor<float>();
        const DataCopyExtParams row{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
        DataCopyPad(x, xGm[offset], row, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
        xQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t n)
    {
        LocalTensor<float> x = xQueue.DeQue<float>();
        LocalTensor<float> y = yQueue.AllocTensor<float>();
        LocalTensor<float> t = work.Get<float>();
        Tanh(y, x, t.ReinterpretCast<uint8_t>(), n);
        yQueue.EnQue(y);
        xQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t offset, uint32_t n)
    {
        LocalTensor<float> y = yQueue.DeQue<float>();
        const DataCopyExtParams row{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
        DataCopyPad(yGm[offset], y, row);
        yQueue.FreeTensor(y);
    }

    TPipe pipe;
    TQue<TPosition::VECIN, 2> xQueue;
    TQue<TPosition::VECOUT, 2> yQueue;
    TBuf<TPosition::VECCALC> work;
    GlobalTensor<float> xGm;
    GlobalTensor<float> yGm;
    uint64_t count = 0;
    uint32_t tileLength = 0;
};

extern "C" __global__ __aicore__ void tanh_example(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    KernelTanh kernel;
    kernel.Init(x, y, data.length, data.perBlock, data.tile);
    kernel.Process();
}
