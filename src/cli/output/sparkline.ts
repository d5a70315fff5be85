/** Numbers as a line of bars. The highest number fills the line, and only zero is drawn as zero. */

const ZERO = '▁';
const BARS = ['▂', '▃', '▄', '▅', '▆', '▇', '█'];

export function sparkline(values: readonly number[]): string {
  const most = Math.max(0, ...values);
  return values
    .map((value) => (value <= 0 ? ZERO : BARS[Math.ceil((value / most) * BARS.length) - 1]!))
    .join('');
}
