/** The windows of the overview, each with a step that divides it, so that all of its parts show the same time. Pure. */
import type { SearchControl } from '../../parts/search-state.tsx';

export interface OverviewRange {
  readonly name: '1h' | '24h' | '7d' | '30d';
  readonly duration: string;
  readonly step: string;
  /** Traffic is measured, which no event reports. */
  readonly refetchMs: number;
}

export const RANGES: readonly OverviewRange[] = [
  { name: '1h', duration: 'PT1H', step: 'PT1M', refetchMs: 60_000 },
  { name: '24h', duration: 'P1D', step: 'PT1H', refetchMs: 60_000 },
  { name: '7d', duration: 'P7D', step: 'PT6H', refetchMs: 300_000 },
  { name: '30d', duration: 'P30D', step: 'P1D', refetchMs: 300_000 },
];

/** The one that the address names, else the last hour. */
export function rangeOf(control: Pick<SearchControl, 'textOf'>): OverviewRange {
  const name = control.textOf('range');
  return RANGES.find((range) => range.name === name) ?? RANGES[0]!;
}
