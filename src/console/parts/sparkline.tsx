/** A small line of counts, with the same fact as text. */
import type { ReactNode } from 'react';

const WIDTH = 96;
const HEIGHT = 20;

export function Sparkline({
  values,
  label,
  isWide = false,
}: {
  readonly values: readonly number[];
  readonly label: string;
  /** Whether the line takes the width of its place. */
  readonly isWide?: boolean;
}): ReactNode {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : WIDTH;
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`,
  );
  return (
    <svg
      width={isWide ? '100%' : WIDTH}
      height={isWide ? 3 * HEIGHT : HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="var(--mantine-color-anchor)"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
