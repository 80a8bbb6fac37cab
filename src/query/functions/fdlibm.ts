/**
 * Inverse trigonometric and hyperbolic functions of doubles by the algorithms of fdlibm (Sun Microsystems, 1993), which Java's `Math` uses
 * for them, and with it the original. They consist of operations that IEEE 754 defines exactly, so results are the same in every browser
 * and every version of Node. The functions of `Math` differ there in the last digit.
 */

/** c0 + c1 x + c2 x² … */
const polynomial = (x: number, coefficients: readonly number[]): number =>
  coefficients.reduceRight((sum, each) => each + x * sum, 0);

const bits = new DataView(new ArrayBuffer(8));

/** Clears the lower 32 bits, so that the product of two such numbers is exact. */
export function upperPart(value: number): number {
  bits.setFloat64(0, value);
  bits.setUint32(4, 0);
  return bits.getFloat64(0);
}

/** What rounding took from π/2. */
const HALF_PI_REST = 6.123_233_995_736_766e-17;
const HALF_PI = Math.PI / 2;
const QUARTER_PI = Math.PI / 4;

/** (asin √x) / √x - 1 */
const asinRatio = (x: number): number =>
  (x *
    polynomial(
      x,
      [
        1.666_666_666_666_666_574_15e-1, -3.255_658_186_224_009_154_05e-1,
        2.012_125_321_348_629_258_81e-1, -4.005_553_450_067_941_140_27e-2,
        7.915_349_942_898_145_321_76e-4, 3.479_331_075_960_211_675_7e-5,
      ],
    )) /
  polynomial(
    x,
    [
      1, -2.403_394_911_734_414_218_78, 2.020_945_760_233_505_694_71,
      -6.882_839_716_054_532_930_3e-1, 7.703_815_055_590_193_527_91e-2,
    ],
  );

/** What rounding took from the root of a number. @param upper the upper part of `root` */
const rootRest = (square: number, root: number, upper: number): number =>
  (square - upper * upper) / (root + upper);

const odd =
  (positive: (value: number) => number) =>
  (value: number): number =>
    value < 0 ? -positive(-value) : positive(value);

/** @param value from -1 to 1 */
export const asin = odd((value) => {
  if (value < 2 ** -27) return value;
  if (value < 0.5) return value + value * asinRatio(value * value);
  const square = (1 - value) * 0.5;
  const root = Math.sqrt(square);
  const ratio = asinRatio(square);
  // The bound is 0.975, of which fdlibm compares the first 32 bits.
  if (value >= 0.974_999_904_632_568_4) return HALF_PI - (2 * (root + root * ratio) - HALF_PI_REST);
  const upper = upperPart(root);
  const rest = 2 * root * ratio - (HALF_PI_REST - 2 * rootRest(square, root, upper));
  return QUARTER_PI - (rest - (QUARTER_PI - 2 * upper));
});

/** @param value from -1 to 1 */
export function acos(value: number): number {
  if (Math.abs(value) < 0.5)
    return HALF_PI - (value - (HALF_PI_REST - value * asinRatio(value * value)));
  const square = (1 - Math.abs(value)) * 0.5;
  const root = Math.sqrt(square);
  const ratio = asinRatio(square);
  if (value < 0) return Math.PI - 2 * (root + (ratio * root - HALF_PI_REST));
  const upper = upperPart(root);
  return square === 0 ? 0 : 2 * (upper + (ratio * root + rootRest(square, root, upper)));
}

/** From one bound to the next, the angle whose tangent is in the middle, with what rounding took from it. */
const ATAN_PARTS = [
  [0.6875, 0.5, 4.636_476_090_008_060_935_15e-1, 2.269_877_745_296_168_709_24e-17],
  [1.1875, 1, QUARTER_PI, HALF_PI_REST / 2],
  [2.4375, 1.5, 9.827_937_232_473_290_540_82e-1, 1.390_331_103_123_099_845_16e-17],
  [Infinity, Infinity, HALF_PI, HALF_PI_REST],
] as const;

/** 1 - (atan x) / x */
function atanRest(x: number): number {
  const square = x * x;
  const fourth = square * square;
  const even = polynomial(
    fourth,
    [
      3.333_333_333_333_293_180_27e-1, 1.428_571_427_250_346_637_11e-1,
      9.090_887_133_436_506_561_96e-2, 6.661_073_137_387_531_206_69e-2,
      4.976_877_994_615_932_360_17e-2, 1.628_582_011_536_578_236_23e-2,
    ],
  );
  const odd = polynomial(
    fourth,
    [
      -1.999_999_999_987_648_324_76e-1, -1.111_111_040_546_235_578_8e-1,
      -7.691_876_205_044_829_994_95e-2, -5.833_570_133_790_573_486_45e-2,
      -3.653_157_274_421_691_552_7e-2,
    ],
  );
  return square * even + fourth * odd;
}

export const atan = odd((value) => {
  if (value < 2 ** -29) return value;
  if (value < 0.4375) return value - value * atanRest(value);
  for (const [until, middle, angle, angleRest] of ATAN_PARTS) {
    if (value >= until) continue;
    const x = middle === Infinity ? -1 / value : (value - middle) / (1 + middle * value);
    return angle - (x * atanRest(x) - angleRest - x);
  }
  return HALF_PI;
});

/** ln 2 in two parts: the product of the upper one and a small integer is exact. */
const LN2_UPPER = 6.931_471_803_691_238_164_9e-1;
const LN2_REST = 1.908_214_929_270_587_700_02e-10;

interface Reduced {
  /** The number is `doublings` times ln 2, and `upper` - `lower`, which is about `rest`. */
  readonly doublings: number;
  readonly upper: number;
  readonly lower: number;
  readonly rest: number;
}

function reduce(value: number): Reduced {
  const magnitude = Math.abs(value);
  // These bounds are ln 2 / 2 and ln 2 × 3 / 2, of which fdlibm compares the first 32 bits.
  if (magnitude < 0.346_573_591_232_299_8)
    return { doublings: 0, upper: value, lower: 0, rest: value };
  const sign = value < 0 ? -1 : 1;
  const doublings =
    magnitude < 1.039_720_535_278_320_3 ? sign : Math.trunc(Math.LOG2E * value + sign * 0.5);
  const upper = value - doublings * LN2_UPPER;
  const lower = doublings * LN2_REST;
  return { doublings, upper, lower, rest: upper - lower };
}

/** In two steps, because the power of two alone may exceed the largest double. */
const doubled = (value: number, doublings: number): number => value * 2 ** (doublings - 1) * 2;

/** @param value from ln 2 / 2 to 710 */
function exp(value: number): number {
  const { doublings, upper, lower, rest: x } = reduce(value);
  const square = x * x;
  const remainder =
    x -
    square *
      polynomial(
        square,
        [
          1.666_666_666_666_660_190_37e-1, -2.777_777_777_701_559_338_42e-3,
          6.613_756_321_437_934_361_17e-5, -1.653_390_220_546_525_153_9e-6,
          4.138_136_797_057_238_460_39e-8,
        ],
      );
  return doubled(1 - (lower - (x * remainder) / (2 - remainder) - upper), doublings);
}

/** A power of e, minus 1. @param value from -2 to 44 */
function expm1(value: number): number {
  const { doublings, upper, lower, rest: x } = reduce(value);
  const half = 0.5 * x;
  const square = x * half;
  const ratio = polynomial(
    square,
    [
      1, -3.333_333_333_333_313_164_28e-2, 1.587_301_587_254_814_601_65e-3,
      -7.936_507_578_674_879_424_73e-5, 4.008_217_827_329_362_395_52e-6,
      -2.010_992_181_836_243_713_26e-7,
    ],
  );
  const divisor = 3 - ratio * half;
  const quotient = square * ((ratio - divisor) / (6 - x * divisor));
  if (doublings === 0) return x - (x * quotient - square);
  const lost = upper - x - lower;
  const error = x * (quotient - lost) - lost - square;
  if (doublings === -1) return 0.5 * (x - error) - 0.5;
  if (doublings === 1) return x < -0.25 ? -2 * (error - (x + 0.5)) : 1 + 2 * (x - error);
  if (doublings < 0 || doublings > 56) return doubled(1 - (error - x), doublings) - 1;
  const one = 2 ** -doublings;
  if (doublings < 20) return doubled(1 - one - (error - x), doublings);
  return doubled(x - (error + one) + 1, doublings);
}

/** Larger numbers have the hyperbolic tangent 1, and the same hyperbolic sine and cosine. */
const FLAT = 22;
/** Beyond it, powers of e are infinite, but their halves may not be. */
const EXP_MAX = 709.782_226_562_5;

function halfPower(value: number): number {
  if (value <= EXP_MAX) return 0.5 * exp(value);
  const root = exp(0.5 * Math.min(value, 2 * EXP_MAX));
  return 0.5 * root * root;
}

export const sinh = odd((value) => {
  if (value < 2 ** -28) return value;
  if (value > FLAT) return halfPower(value);
  const power = expm1(value);
  if (value < 1) return 0.5 * (2 * power - (power * power) / (power + 1));
  return 0.5 * (power + power / (power + 1));
});

export function cosh(value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude > FLAT) return halfPower(magnitude);
  if (magnitude < 0.346_573_591_232_299_8) {
    const power = expm1(magnitude);
    return 1 + (power * power) / (2 * (1 + power));
  }
  const power = exp(magnitude);
  return 0.5 * power + 0.5 / power;
}

export const tanh = odd((value) => {
  if (value < 2 ** -55) return value;
  if (value >= FLAT) return 1;
  if (value >= 1) return 1 - 2 / (expm1(2 * value) + 2);
  const power = expm1(-2 * value);
  return -power / (power + 2);
});
