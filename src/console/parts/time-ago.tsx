/** A time as people think of it, with the exact one behind it. */
import { useEffect, useState, type ReactNode } from 'react';
import { useProgram } from '../api/program.tsx';
import { useFormat, useText } from '../text/language.tsx';
import { partsText } from './parts-text.ts';

const TICK_MS = 15_000;

/** The time at the control plane, with which times of the API are compared. */
export function useNow(tickMs: number = TICK_MS): number {
  const { clock } = useProgram().api;
  return clock.timeOf(useBrowserNow(tickMs));
}

/** The time of this browser's clock. */
export function useBrowserNow(tickMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [tickMs]);
  return now;
}

export function TimeAgo({ at }: { readonly at: string | null | undefined }): ReactNode {
  const [text, format, now] = [useText(partsText), useFormat(), useNow()];
  if (at === null || at === undefined) return text.never;
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={format.dateTime(atMs)}>
      {format.relative(atMs, now)}
    </time>
  );
}

export function ExactTime({ at }: { readonly at: string | null | undefined }): ReactNode {
  const [text, format] = [useText(partsText), useFormat()];
  if (at === null || at === undefined) return text.never;
  return <time dateTime={at}>{format.dateTime(Date.parse(at))}</time>;
}
