/**
 * Lines over time, drawn by uPlot. Pages that use it are loaded on their own. The same facts stand beside it as text: the
 * drawing is one picture for those who do not see it.
 */
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import uPlot from 'uplot';
import type { Format } from '../text/format.ts';
import { useFormat } from '../text/language.tsx';

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** A variable of the style sheet: `--fd-good`. */
  readonly color: string;
  /** Lengths of dashes and gaps, so that lines differ not by colour alone. */
  readonly dash?: readonly number[] | undefined;
}

const HEIGHT = 200;
const LINE_WIDTH = 2;
const POINT_SIZE = 5;
const AXIS_WIDTH = 72;
/** Half of the width that a date takes below the chart, in pixels. */
const HALF_LABEL = 36;
const DAY_SECONDS = 86_400;
const MS = 1_000;

interface ChartProps {
  /** Describes the picture, with its largest values. */
  readonly label: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly shown: (value: number) => string;
}

export function TimeChart(props: ChartProps): ReactNode {
  const { label, times, lines, shown } = props;
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const format = useFormat();
  const [at, setAt] = useState<number | undefined>();

  useEffect(() => {
    const element = place.current!;
    const chart = new uPlot(
      {
        ...optionsOf({ times, lines, shown }, format),
        width: Math.max(1, element.clientWidth),
        hooks: { setCursor: [({ cursor }) => setAt(cursor.idx ?? undefined)] },
      },
      [[...times], ...lines.map(({ values }) => [...values])],
      element,
    );
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: Math.max(1, element.clientWidth), height: HEIGHT }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [times, lines, shown, scheme, format]);

  const time = at === undefined ? undefined : times[at];
  return (
    <figure className="fd-chart">
      <div ref={place} role="img" aria-label={label} />
      <figcaption>
        <ul className="fd-legend">
          {lines.map(({ label: name, color, dash, values }) => (
            <li key={name}>
              <svg width="28" height="8" aria-hidden="true" focusable="false">
                <line
                  x1="0"
                  x2="28"
                  y1="4"
                  y2="4"
                  stroke={`var(${color})`}
                  strokeWidth={LINE_WIDTH}
                  strokeDasharray={dash?.join(' ')}
                />
              </svg>
              {name}
              {at === undefined || typeof values[at] !== 'number' ? null : `: ${shown(values[at])}`}
            </li>
          ))}
          <li className="fd-soft">{time === undefined ? '\u00a0' : format.dateTime(time * MS)}</li>
        </ul>
      </figcaption>
    </figure>
  );
}

/** In the colors of the style sheet, which follow the color scheme. */
function optionsOf(
  { times, lines, shown }: Omit<ChartProps, 'label'>,
  format: Format,
): Omit<uPlot.Options, 'width'> {
  const style = getComputedStyle(document.documentElement);
  const colorOf = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: colorOf('--fd-soft'), grid: { stroke: colorOf('--fd-line'), width: 1 } };
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * DAY_SECONDS;
  const timeOf = (seconds: number) => (isLong ? format.date(seconds * MS) : format.minute(seconds * MS));
  return {
    height: HEIGHT,
    legend: { show: false },
    // Half of the last time stands beyond the last line.
    padding: [null, HALF_LABEL, null, null],
    cursor: { drag: { x: false, y: false } },
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(1, max * 1.05)] } },
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: colorOf(line.color),
        width: LINE_WIDTH,
        // A value between gaps is no line.
        points: line.values.includes(null) ? { show: true, size: POINT_SIZE } : { show: false },
        ...(line.dash === undefined ? {} : { dash: [...line.dash] }),
      })),
    ],
    axes: [
      { ...axis, space: 110, values: (_chart, splits) => splits.map(timeOf) },
      {
        ...axis,
        size: AXIS_WIDTH,
        values: (_chart, splits) => splits.map((value) => (Number.isInteger(value) ? shown(value) : '')),
      },
    ],
  };
}
