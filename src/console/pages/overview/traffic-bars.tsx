/** Requests over time as bars, one a step, of what was answered, refused and failed. The same stands beside it as text. */
import type { ReactNode } from 'react';
import type { FrontdoorMetricsAnswer } from '#contract/schemas';
import { useFormat } from '../../text/language.tsx';

type Sample = FrontdoorMetricsAnswer['samples'][number];

const WIDTH = 600;
const HEIGHT = 120;
const DAY_MS = 86_400_000;
/** The part of the room that a bar takes. */
const GAP = 0.15;
/** A step with few requests beside one with many is still seen. */
const LEAST = 1.5;

export function TrafficBars({
  samples,
  label,
}: {
  readonly samples: readonly Sample[];
  readonly label: string;
}): ReactNode {
  const format = useFormat();
  const most = Math.max(1, ...samples.map(({ requests }) => requests));
  const room = WIDTH / Math.max(1, samples.length);
  const [first, last] = [samples[0], samples.at(-1)];
  const isLong = first !== undefined && Date.parse(last!.timestamp) - Date.parse(first.timestamp) > DAY_MS;
  const timeOf = ({ timestamp }: Sample) =>
    isLong ? format.date(Date.parse(timestamp)) : format.minute(Date.parse(timestamp));
  return (
    <figure className="fd-bars">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
        width="100%"
        height={HEIGHT}
      >
        {samples.map((sample, at) => (
          <Bar key={sample.timestamp} sample={sample} x={at * room} width={room} most={most} />
        ))}
      </svg>
      {first === undefined || last === undefined ? null : (
        <figcaption aria-hidden="true">
          <span>{timeOf(first)}</span>
          <span>{timeOf(last)}</span>
        </figcaption>
      )}
    </figure>
  );
}

function Bar({
  sample,
  x,
  width,
  most,
}: {
  readonly sample: Sample;
  readonly x: number;
  readonly width: number;
  readonly most: number;
}): ReactNode {
  const { requests, errors, status4xx: refused } = sample;
  const parts = [
    ['fd-bar-bad', errors],
    ['fd-bar-warn', refused],
    ['fd-bar-good', Math.max(0, requests - errors - refused)],
  ] as const;
  let top = HEIGHT;
  return parts.map(([name, count]) => {
    if (count === 0) return null;
    const height = Math.min(top, Math.max(LEAST, (count / most) * (HEIGHT - 4)));
    top -= height;
    return (
      <rect
        key={name}
        className={name}
        x={x + (width * GAP) / 2}
        y={top}
        width={width * (1 - GAP)}
        height={height}
      />
    );
  });
}
