// Published cases as kernels of our own: their times are simulated in timing-only mode and must
// agree with the instruction streams of ascendc_timing_streams.py.
#include "kernel_operator.h"

using namespace AscendC;

struct Plan {
    GM_ADDR x;
    GM_ADDR y;
    GM_ADDR z;
    uint64_t share;      // bytes of one block, multiple of 512
    uint32_t tile;       // bytes of one copy
    uint32_t tiles;
    uint32_t shift;      // bytes by which the second input is moved in UB
    uint32_t bypass;     // inputs past L2
    uint32_t passes;
};

template <int BUFFERS>
class AddTiles {
public:
    __aicore__ inline void Init(const Plan& plan) {
        const uint64_t first = GetBlockIdx() * plan.share / sizeof(half);
        x_.SetGlobalBuffer((__gm__ half*)plan.x + first, plan.share / sizeof(half));
        y_.SetGlobalBuffer((__gm__ half*)plan.y + first, plan.share / sizeof(half));
        z_.SetGlobalBuffer((__gm__ half*)plan.z + first, plan.share / sizeof(half));
        if (plan.bypass != 0) {
            x_.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
            y_.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        }
        pipe_.InitBuffer(inX_, BUFFERS, plan.tile);
        if (plan.shift != 0) pipe_.InitBuffer(gap_, plan.shift);
        pipe_.InitBuffer(inY_, BUFFERS, plan.tile);
        pipe_.InitBuffer(out_, BUFFERS, plan.tile);
        count_ = plan.tile / sizeof(half);
        tiles_ = plan.tiles;
    }

    __aicore__ inline void Process() {
        for (uint32_t tile = 0; tile < tiles_; ++tile) {
            LocalTensor<half> x = inX_.template AllocTensor<half>();
            DataCopy(x, x_[tile * count_], count_);
            inX_.EnQue(x);
            LocalTensor<half> y = inY_.template AllocTensor<half>();
            DataCopy(y, y_[tile * count_], count_);
            inY_.EnQue(y);
            x = inX_.template DeQue<half>();
            y = inY_.template DeQue<half>();
            LocalTensor<half> z = out_.template AllocTensor<half>();
            Add(z, x, y, count_);
            inX_.FreeTensor(x);
            inY_.FreeTensor(y);
            out_.EnQue(z);
            z = out_.template DeQue<half>();
            DataCopy(z_[tile * count_], z, count_);
            out_.FreeTensor(z);
        }
    }

private:
    TPipe pipe_;
    TQue<TPosition::VECIN, BUFFERS> inX_, inY_;
    TQue<TPosition::VECOUT, BUFFERS> out_;
    TBuf<TPosition::VECCALC> gap_;
    GlobalTensor<half> x_, y_, z_;
    uint32_t count_ = 0, tiles_ = 0;
};

template <int BUFFERS>
__aicore__ inline void AddKernel(void* plan) {
    AddTiles<BUFFERS> kernel;
    kernel.Init(*static_cast<const Plan*>(plan));
    kernel.Process();
}

extern "C" void add_single(void* plan) { AddKernel<1>(plan); }
extern "C" void add_double(void* plan) { AddKernel<2>(plan); }

extern "C" void add_scalar(void* raw) {
    const Plan& plan = *static_cast<const Plan*>(raw);
    const uint32_t count = plan.share / sizeof(half);
    GlobalTensor<half> x, y, z;
    x.SetGlobalBuffer((__gm__ half*)plan.x, count);
    y.SetGlobalBuffer((__gm__ half*)plan.y + 4096, count);  // apart in the data cache
    z.SetGlobalBuffer((__gm__ half*)plan.z + 8192, count);
    for (uint32_t i = 0; i < count; ++i) z.SetValue(i, x.GetValue(i));
}

extern "C" void read_tiles(void* raw) {
    const Plan& plan = *static_cast<const Plan*>(raw);
    GlobalTensor<int8_t> x;
    x.SetGlobalBuffer((__gm__ int8_t*)plan.x + GetBlockIdx() * plan.share, plan.share);
    TPipe pipe;
    TBuf<TPosition::VECIN> buffer;
    pipe.InitBuffer(buffer, plan.tile);
    LocalTensor<int8_t> tile = buffer.Get<int8_t>();
    for (uint32_t pass = 0; pass < plan.passes; ++pass)
        for (uint32_t i = 0; i < plan.tiles; ++i)
            DataCopy(tile, x[static_cast<uint64_t>(i) * plan.tile + plan.shift], plan.tile);
}
