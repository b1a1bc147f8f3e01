/*
 * A minimal encoder of H.264 (ITU-T H.264, constrained baseline, CAVLC). Picture 0 has one color; in the following
 * ones a light bar grows from the left edge to the right one. Only two macroblocks are stored (I_PCM). The others are
 * predicted from their neighbors, or skipped.
 */

export interface Picture {
  readonly width: number;
  readonly height: number;
}

/** Luma from 16 to 235, Cb and Cr from 16 to 240. */
export type Color = readonly [y: number, cb: number, cr: number];

export interface EncodedVideo {
  readonly parameters: { readonly sequence: Buffer; readonly picture: Buffer };
  /** One NAL unit per picture. The first one alone can be decoded without the others. */
  readonly pictures: readonly Buffer[];
  readonly level: number;
}

/** Encodes at least three pictures. Width and height must be even. */
export function encodeBar(picture: Picture, background: Color, count: number): EncodedVideo {
  const columns = Math.ceil(picture.width / side);
  const rows = Math.ceil(picture.height / side);
  const level = columns * rows > level4Macroblocks ? 51 : 40;
  const barAfter = (index: number): number =>
    index === 0 ? 0 : 1 + Math.floor(((index - 1) * (columns - 1)) / (count - 2));
  const pictures = Array.from({ length: count }, (_, index) =>
    index === 0
      ? firstPicture(columns, rows, background)
      : nextPicture(index, columns, rows, { from: barAfter(index - 1), to: barAfter(index) }),
  );
  return {
    parameters: { sequence: sequenceParameters(picture, level), picture: pictureParameters() },
    pictures,
    level,
  };
}

/** Side of a macroblock, in pixels. */
const side = 16;
/** Table A-1: the largest picture of level 4. */
const level4Macroblocks = 8_192;
const light: Color = [235, 128, 128];

export const baselineProfile = 66;
/** `constraint_set0_flag` and `constraint_set1_flag`. */
export const constrained = 0xc0;

/** 7.3.2.1.1, with the crop of the last row and column of macroblocks. */
function sequenceParameters({ width, height }: Picture, level: number): Buffer {
  const bits = new Bits().fixed(baselineProfile, 8).fixed(constrained, 8).fixed(level, 8);
  const columns = Math.ceil(width / side);
  const rows = Math.ceil(height / side);
  // Id, frame numbers of 4 bits, output in decoding order, one reference picture without gaps.
  bits.count(0).count(0).count(2).count(1).fixed(0, 1);
  // Frames only, with 8x8 inference.
  bits
    .count(columns - 1)
    .count(rows - 1)
    .fixed(0b11, 2);
  const [right, bottom] = [(columns * side - width) / 2, (rows * side - height) / 2];
  if (right + bottom === 0) bits.fixed(0, 1);
  else bits.fixed(1, 1).count(0).count(right).count(0).count(bottom);
  return bits.fixed(0, 1).toUnit(0x67);
}

/** 7.3.2.2: CAVLC, one reference picture, no weights, and a deblocking filter that slices can switch off. */
function pictureParameters(): Buffer {
  const quantization = new Bits().count(0).count(0).fixed(0, 2).count(0).count(0).count(0).fixed(0, 3);
  return quantization.count(0).count(0).count(0).fixed(0b100, 3).toUnit(0x68);
}

function firstPicture(columns: number, rows: number, color: Color): Buffer {
  const bits = sliceHeader(7, 0).count(0).fixed(0, 2);
  stored(endHeader(bits), 25, color);
  for (let address = 1; address < columns * rows; address += 1) {
    // Intra 16x16 and chroma, both predicted as the mean of the neighbors, without a change of the quantizer.
    bits.count(3).count(0).count(0);
    // No coefficients: the code depends on the neighbors, and a stored one counts as 16 (9.2.1).
    if (address === 1 || address === columns) bits.fixed(0b000011, 6);
    else bits.fixed(1, 1);
  }
  return bits.toUnit(0x65);
}

/** Extends the bar. All other macroblocks are skipped, that is, copied from the previous picture. */
function nextPicture(index: number, columns: number, rows: number, bar: { from: number; to: number }): Buffer {
  // No override of the reference count, no reordering, no marking.
  const bits = endHeader(sliceHeader(5, index % 16).fixed(0, 3));
  const start = Math.floor(rows / 2) * columns;
  let done = 0;
  for (let column = bar.from; column < bar.to; column += 1) {
    bits.count(start + column - done);
    if (column === 0) stored(bits, 30, light);
    // Intra 16x16 and chroma, both predicted from the left neighbor. No coefficients.
    else bits.count(7).count(1).count(0).fixed(1, 1);
    done = start + column + 1;
  }
  return bits.count(columns * rows - done).toUnit(0x41);
}

function sliceHeader(sliceType: number, frameNumber: number): Bits {
  return new Bits().count(0).count(sliceType).count(0).fixed(frameNumber, 4);
}

/** No change of the quantizer, and no deblocking filter. */
function endHeader(bits: Bits): Bits {
  return bits.count(0).count(1);
}

/** A macroblock with its samples. The code of its type depends on the slice. */
function stored(bits: Bits, type: number, [y, cb, cr]: Color): void {
  bits.count(type).align().repeat(y, 256).repeat(cb, 64).repeat(cr, 64);
}

class Bits {
  private readonly bytes: number[] = [];
  private pending = 0;
  private pendingBits = 0;

  fixed(value: number, length: number): this {
    for (let bit = length - 1; bit >= 0; bit -= 1) {
      this.pending = (this.pending << 1) | ((value >> bit) & 1);
      this.pendingBits += 1;
      if (this.pendingBits === 8) {
        this.bytes.push(this.pending);
        this.pending = 0;
        this.pendingBits = 0;
      }
    }
    return this;
  }

  /** Exponential Golomb code of 9.1. The signed code of 0 is the same. */
  count(value: number): this {
    const length = 32 - Math.clz32(value + 1);
    return this.fixed(0, length - 1).fixed(value + 1, length);
  }

  align(): this {
    return this.pendingBits === 0 ? this : this.fixed(0, 8 - this.pendingBits);
  }

  repeat(byte: number, times: number): this {
    for (let time = 0; time < times; time += 1) this.fixed(byte, 8);
    return this;
  }

  /** Returns the NAL unit with the header byte, and with the bytes that prevent start codes (7.4.1). */
  toUnit(header: number): Buffer {
    this.fixed(1, 1).align();
    const unit = [header];
    let zeros = 0;
    for (const byte of this.bytes) {
      if (zeros === 2 && byte <= 3) {
        unit.push(3);
        zeros = 0;
      }
      unit.push(byte);
      zeros = byte === 0 ? zeros + 1 : 0;
    }
    return Buffer.from(unit);
  }
}
