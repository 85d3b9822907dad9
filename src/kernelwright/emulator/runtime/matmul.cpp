// The Matmul API by its contract: which rectangle of which matrices a call multiplies, and where
// the result goes.
#include <algorithm>
#include <map>
#include <string>

#include "gemm.h"
#include "matmul_chip.h"
#include "matmul_matrix.h"

namespace kw {

namespace {

// A base block of the single-core product.
struct Block {
    int64_t row = 0, column = 0;
    int64_t m = 0, n = 0;
};

// Accumulators of blocks that wait for GetTensorC, by Matmul object.
std::map<const MatmulState*, Product>& accumulators() {
    static std::map<const MatmulState*, Product> all;
    return all;
}

int64_t ceilDiv(int64_t value, int64_t by) { return (value + by - 1) / by; }

int64_t blockRows(const MatmulState& state) { return std::max(state.baseM, 1); }
int64_t blockColumns(const MatmulState& state) { return std::max(state.baseN, 1); }

int64_t blockCount(const MatmulState& state) {
    return ceilDiv(state.m, blockRows(state)) * ceilDiv(state.n, blockColumns(state));
}

// Blocks run down the rows first unless the tiling asks for columns first.
Block blockAt(const MatmulState& state, int64_t step) {
    int64_t down = ceilDiv(state.m, blockRows(state));
    int64_t across = ceilDiv(state.n, blockColumns(state));
    bool isColumnsFirst = state.tiling != nullptr && state.tiling->iterateOrder == 1;
    int64_t i = isColumnsFirst ? step / across : step % down;
    int64_t j = isColumnsFirst ? step % across : step / down;
    Block block;
    block.row = i * blockRows(state);
    block.column = j * blockColumns(state);
    block.m = std::min(blockRows(state), state.m - block.row);
    block.n = std::min(blockColumns(state), state.n - block.column);
    return block;
}

// Row lengths of the whole matrices; one that lies on the chip holds the single-core part only.
void placeOperands(MatmulState& state) {
    const int64_t m = state.a.isGlobal ? state.orgM : state.m;
    const int64_t ka = state.a.isGlobal ? state.orgKa : state.k;
    const int64_t n = state.b.isGlobal ? state.orgN : state.n;
    const int64_t kb = state.b.isGlobal ? state.orgKb : state.k;
    state.a.rows = state.a.isTransposed ? ka : m;
    state.a.pitch = state.a.isTransposed ? m : ka;
    state.b.rows = state.b.isTransposed ? n : kb;
    state.b.pitch = state.b.isTransposed ? kb : n;
}

bool isReady(const MatmulState& state) {
    if (state.tiling == nullptr) {
        refuseMatmul("MATMUL_NOT_INITIALISED",
                     "the Matmul object has no tiling: name it in REGIST_MATMUL_OBJ with its "
                     "tiling or call Init");
        return false;
    }
    if (state.a.data == nullptr || state.b.data == nullptr) {
        refuseMatmul("MATMUL_WITHOUT_OPERAND", "SetTensorA and SetTensorB come before a product");
        return false;
    }
    if (state.m <= 0 || state.n <= 0 || state.k <= 0) {
        refuseMatmul("MATMUL_EMPTY_SHAPE",
                     "the single-core shape has a size of 0 or less: check SetSingleShape, SetTail "
                     "and the tiling");
        return false;
    }
    return true;
}

bool mayMultiply(const MatmulState& state, const Block& block) {
    bool isRight = touchRectangle({&state.a, block.row, 0, block.m, state.k}, false);
    isRight &= touchRectangle({&state.b, 0, block.column, state.k, block.n}, false);
    if (state.hasBias) isRight &= touchRectangle({&state.bias, 0, block.column, 1, block.n}, false);
    return isRight;
}

void addBias(const MatmulState& state, const Block& block, Product& product) {
    for (int64_t c = 0; c < block.n; ++c) {
        double bias = biasAt(state.bias, block.column + c);
        for (int64_t r = 0; r < block.m; ++r) {
            if (product.isInteger) {
                product.integers[r * block.n + c] += static_cast<int32_t>(bias);
            } else {
                product.floats[r * block.n + c] += static_cast<float>(bias);
            }
        }
    }
}

// Multiplies one rectangle; with `isAdded` the sums of an earlier step stay in `product`.
void multiply(const MatmulState& state, const Block& block, bool isAdded, Product& product) {
    product.m = block.m;
    product.n = block.n;
    product.isInteger = state.a.dtype == Dtype::i8 && state.b.dtype == Dtype::i8;
    size_t items = static_cast<size_t>(block.m * block.n);
    if (!isAdded) {
        product.floats.assign(product.isInteger ? 0 : items, 0.0f);
        product.integers.assign(product.isInteger ? items : 0, 0);
    }
    if (!mayMultiply(state, block) || !wantsValues()) return;
    OperandView a = viewOf(state.a, block.row, 0, block.m, state.k);
    OperandView b = viewOf(state.b, 0, block.column, state.k, block.n);
    if (product.isInteger) {
        gemmAdd(block.m, block.n, state.k, a.operand, b.operand, product.integers.data());
    } else {
        gemmAdd(block.m, block.n, state.k, a.operand, b.operand, product.floats.data());
    }
    if (state.hasBias && !isAdded) addBias(state, block, product);
}

void write(const MatmulState& state, const Product& product, const Matrix& into, int64_t row,
           int64_t column) {
    if (!touchRectangle({&into, row, column, product.m, product.n}, true) || !wantsValues()) return;
    store(product, into, row, column, {state.atomic, state.quantScalar, state.quantVector});
}

// The output of the whole single-core product: part of the larger matrix, or by itself.
Matrix placed(const MatmulState& state, Matrix into, int64_t rows, int64_t columns) {
    bool isAlone = state.isSequential || !into.isGlobal;
    into.rows = isAlone ? rows : state.orgM;
    into.pitch = isAlone ? columns : state.orgKc;
    bool isPadded = !into.isGlobal && into.layout == MatrixLayout::kNd;
    if (into.layout == MatrixLayout::kNdAligned || isPadded) {
        int64_t step = 32 / itemBytes(into.dtype);
        if (isAlone) into.pitch = ceilDiv(columns, step) * step;
    }
    return into;
}

// Start of matrix `index` of a batch, in items, and the row length that the layout implies.
int64_t batchStart(uint8_t layout, int64_t index, int64_t stride, const int32_t (&sizes)[5],
                   int64_t single, int64_t& pitch) {
    constexpr uint8_t kBsngd = 1, kSbngd = 2;
    if (stride != 0) return index * stride;
    if (layout != kBsngd && layout != kSbngd) return index * single;
    int64_t batches = sizes[0], length = sizes[1], heads = int64_t{sizes[2]} * sizes[3];
    int64_t depth = sizes[4];
    int64_t batch = index / heads, head = index % heads;
    pitch = (layout == kBsngd ? 1 : batches) * heads * depth;
    int64_t first = layout == kBsngd ? batch * length * heads * depth : batch * heads * depth;
    return first + head * depth;
}

void moveBy(Matrix& matrix, int64_t items) {
    matrix.data = static_cast<const char*>(matrix.data) + items * itemBytes(matrix.dtype);
}

}  // namespace

void matmulInit(MatmulState& state, const TCubeTiling* tiling) {
    state = MatmulState();
    state.tiling = tiling;
    state.m = tiling->singleCoreM;
    state.n = tiling->singleCoreN;
    state.k = tiling->singleCoreK;
    state.orgM = tiling->M;
    state.orgN = state.orgKc = tiling->N;
    state.orgKa = tiling->Ka;
    state.orgKb = tiling->Kb;
    state.baseM = tiling->baseM;
    state.baseN = tiling->baseN;
    accumulators().erase(&state);
}

bool matmulStep(MatmulState& state, bool addsToLast) {
    if (!isReady(state)) return false;
    if (addsToLast && state.step >= 0) {
        placeOperands(state);
        multiply(state, blockAt(state, state.step), true, accumulators()[&state]);
        return true;
    }
    if (state.step + 1 >= blockCount(state)) {
        state.step = -1;
        return false;
    }
    ++state.step;
    placeOperands(state);
    Block block = blockAt(state, state.step);
    multiply(state, block, false, accumulators()[&state]);
    chargeProduct(state, block.m, block.n, state.k, false);
    return true;
}

void matmulBlock(MatmulState& state, const Matrix& into) {
    auto found = accumulators().find(&state);
    if (found == accumulators().end() || state.step < 0) {
        refuseMatmul("MATMUL_NO_BLOCK", "GetTensorC comes after an Iterate that returned true");
        return;
    }
    Block block = blockAt(state, state.step);
    bool isAlone = state.isSequential || !into.isGlobal;
    Matrix out = placed(state, into, block.m, block.n);
    write(state, found->second, out, isAlone ? 0 : block.row, isAlone ? 0 : block.column);
    chargeProduct(state, block.m, block.n, 0, true);
}

void matmulAll(MatmulState& state, const Matrix& into) {
    if (!isReady(state)) return;
    placeOperands(state);
    Matrix out = placed(state, into, state.m, state.n);
    Product product;
    Block whole{0, 0, state.m, state.n};
    multiply(state, whole, false, product);
    write(state, product, out, 0, 0);
    chargeProduct(state, state.m, state.n, state.k, true);
    state.step = -1;
}

void matmulBatch(MatmulState& state, const Matrix& into) {
    if (!isReady(state)) return;
    const TCubeTiling& t = *state.tiling;
    const int32_t layoutA[5] = {t.ALayoutInfoB, t.ALayoutInfoS, t.ALayoutInfoN, t.ALayoutInfoG,
                                t.ALayoutInfoD};
    const int32_t layoutB[5] = {t.BLayoutInfoB, t.BLayoutInfoS, t.BLayoutInfoN, t.BLayoutInfoG,
                                t.BLayoutInfoD};
    const int32_t layoutC[5] = {t.CLayoutInfoB, t.CLayoutInfoS1, t.CLayoutInfoN, t.CLayoutInfoG,
                                t.CLayoutInfoS2};
    const Matrix a = state.a, b = state.b;
    int64_t batches = std::max({state.batchesA, state.batchesB, 1});
    for (int64_t index = 0; index < batches; ++index) {
        state.a = a;
        state.b = b;
        placeOperands(state);
        int64_t m = state.m, n = state.n, k = state.k;
        moveBy(state.a, batchStart(state.layoutA, index % std::max(state.batchesA, 1),
                                   state.strideA, layoutA, m * k, state.a.pitch));
        moveBy(state.b, batchStart(state.layoutB, index % std::max(state.batchesB, 1),
                                   state.strideB, layoutB, k * n, state.b.pitch));
        Matrix out = placed(state, into, m, n);
        moveBy(out, batchStart(state.layoutC, index, state.strideC, layoutC, m * n, out.pitch));
        Product product;
        multiply(state, {0, 0, m, n}, false, product);
        write(state, product, out, 0, 0);
        chargeProduct(state, m, n, k, true);
    }
    state.a = a;
    state.b = b;
}

void matmulEnd(MatmulState& state) {
    accumulators().erase(&state);
    state.step = -1;
}

uint64_t matmulBlockOffset(const MatmulState& state) {
    Block block = blockAt(state, std::max(state.step, 0));
    return static_cast<uint64_t>(block.row * state.orgKc + block.column);
}

}  // namespace kw
