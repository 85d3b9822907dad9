// Fields of the tiling structures of the high-level APIs, one table for the host's classes and the
// kernel's structs.
#pragma once

#define KW_TCUBE_TILING_FIELDS(FIELD) \
  FIELD(usedCoreNum) FIELD(M) FIELD(N) FIELD(Ka) FIELD(Kb) \
  FIELD(singleCoreM) FIELD(singleCoreN) FIELD(singleCoreK) \
  FIELD(baseM) FIELD(baseN) FIELD(baseK) FIELD(depthA1) FIELD(depthB1) FIELD(stepM) FIELD(stepN) \
  FIELD(isBias) FIELD(transLength) FIELD(iterateOrder) FIELD(shareMode) FIELD(shareL1Size) \
  FIELD(shareL0CSize) FIELD(shareUbSize) FIELD(batchM) FIELD(batchN) \
  FIELD(singleBatchM) FIELD(singleBatchN) FIELD(stepKa) FIELD(stepKb) \
  FIELD(depthAL1CacheUB) FIELD(depthBL1CacheUB) FIELD(dbL0A) FIELD(dbL0B) FIELD(dbL0C) \
  FIELD(ALayoutInfoB) FIELD(ALayoutInfoS) FIELD(ALayoutInfoN) FIELD(ALayoutInfoG) \
  FIELD(ALayoutInfoD) FIELD(BLayoutInfoB) FIELD(BLayoutInfoS) FIELD(BLayoutInfoN) \
  FIELD(BLayoutInfoG) FIELD(BLayoutInfoD) FIELD(CLayoutInfoB) FIELD(CLayoutInfoS1) \
  FIELD(CLayoutInfoN) FIELD(CLayoutInfoG) FIELD(CLayoutInfoS2) FIELD(BatchNum) FIELD(mxTypePara)

#define KW_SOFTMAX_TILING_FIELDS(FIELD) \
  FIELD(srcM) FIELD(srcK) FIELD(srcSize) FIELD(outMaxM) FIELD(outMaxK) FIELD(outMaxSize) \
  FIELD(splitM) FIELD(splitK) FIELD(splitSize) FIELD(reduceM) FIELD(reduceK) FIELD(reduceSize) \
  FIELD(rangeM) FIELD(tailM) FIELD(tailSplitSize) FIELD(tailReduceSize)

#define KW_LAYERNORM_TILING_FIELDS(FIELD) \
  FIELD(bLength) FIELD(sLength) FIELD(hLength) FIELD(originalHLength) FIELD(inputXSize) \
  FIELD(meanVarSize) FIELD(numberOfTmpBuf) FIELD(meanTmpTensorPos) FIELD(meanTmpTensorSize) \
  FIELD(varianceTmpTensorPos) FIELD(varianceTmpTensorSize) FIELD(tmpBufSize) \
  FIELD(oneTmpSize) FIELD(firstTmpStartPos) FIELD(secondTmpStartPos) FIELD(thirdTmpStartPos) \
  FIELD(loopRound) FIELD(inputRoundSize) FIELD(inputTailSize) FIELD(inputTailPos) \
  FIELD(meanVarRoundSize) FIELD(meanVarTailSize) FIELD(meanVarTailPos) FIELD(bshCurLength) \
  FIELD(bsCurLength)

#define KW_RMSNORM_TILING_FIELDS(FIELD) \
  FIELD(bLength) FIELD(sLength) FIELD(hLength) FIELD(originalHLength) FIELD(reciprocalOfHLength) \
  FIELD(mainBshLength) FIELD(mainBsLength) FIELD(mainBsLengthAlign) FIELD(loopRound) \
  FIELD(inputTailPos) FIELD(tailBshLength) FIELD(tailBsLength)

#define KW_UNPAD_TILING_FIELDS(FIELD) \
  FIELD(srcHeight) FIELD(srcWidth) FIELD(tmpBuffer1BlockNum) FIELD(tmpBuffer1RowNum) \
  FIELD(tmpBuffer2Offset) FIELD(widthTiling) FIELD(widthTilingLoop) FIELD(widthTilingTail)

#define KW_PAD_TILING_FIELDS(FIELD) \
  FIELD(srcHeight) FIELD(srcWidth) FIELD(srcOriWidth) FIELD(widthWithoutLastBlock) \
  FIELD(blocksPerRow) FIELD(heightTiling) FIELD(heightFractal) FIELD(heightFractalTail) \
  FIELD(mainLoopOffset) FIELD(tailBlockOffset) FIELD(tmpBuffer1BlockNum) FIELD(tmpBuffer1RowNum) \
  FIELD(tmpBuffer2Offset) FIELD(widthTiling) FIELD(widthFractal) FIELD(widthFractalTail) \
  FIELD(widthFractalTailAlingned) FIELD(brcbTiling) FIELD(brcbFractal) FIELD(maxRepeatTimes) \
  FIELD(brcbTilingRepeatTimes) FIELD(brcbTilingRepeatTimesTail)

#define KW_MEAN_TOPK_TILING_FIELDS(FIELD) \
  FIELD(tmpLocalSize) FIELD(allDataSize) FIELD(innerDataSize) FIELD(sortRepeat) \
  FIELD(mrgSortRepeat) FIELD(kAlignFourBytes) FIELD(kAlignTwoBytes) FIELD(maskOffset) \
  FIELD(maskVreducev2FourBytes) FIELD(maskVreducev2TwoBytes) FIELD(mrgSortSrc1offset) \
  FIELD(mrgSortSrc2offset) FIELD(mrgSortSrc3offset) FIELD(mrgSortTwoQueueSrc1Offset) \
  FIELD(mrgFourQueueTailPara1) FIELD(mrgFourQueueTailPara2) FIELD(srcIndexOffset) \
  FIELD(copyUbToUbBlockCount) FIELD(topkMrgSrc1MaskSizeOffset) FIELD(topkNSmallSrcIndexOffset) \
  FIELD(vreduceValMask0) FIELD(vreduceValMask1) FIELD(vreduceIdxMask0) FIELD(vreduceIdxMask1) \
  FIELD(vreducehalfValMask0) FIELD(vreducehalfValMask1) FIELD(vreducehalfValMask2) \
  FIELD(vreducehalfValMask3) FIELD(vreducehalfValMask4) FIELD(vreducehalfValMask5) \
  FIELD(vreducehalfValMask6) FIELD(vreducehalfValMask7)
