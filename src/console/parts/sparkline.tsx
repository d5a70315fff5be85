/** A small line of counts, with the same fact as text. */
import type { ReactNode } from 'react';

const WIDTH = 96;
const HEIGHT = 20;

export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly number[];
  readonly label: string;
}): ReactNode {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : WIDTH;
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`,
  );
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="var(--mantine-color-anchor)"
        strokeWidth="1.5"
      />
    </svg>
  );
}
