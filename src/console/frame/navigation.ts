/** The pages of the navigation, as far as the person may see them. The server decides again. */
import type { CallerSession } from '../api/session.tsx';
import type { frameText } from './frame-text.ts';

type FrameKey = keyof (typeof frameText)['en'];
/** Texts without values. */
type Label = {
  [K in FrameKey]: (typeof frameText)['en'][K] extends string ? K : never;
}[FrameKey];

export interface NavigationEntry {
  readonly to: string;
  readonly label: Label;
  readonly isExact: boolean;
  /** Typed after `g`, it leads to the page. */
  readonly key: string;
}

export interface NavigationGroup {
  readonly title: Label;
  readonly entries: readonly NavigationEntry[];
}

export function navigationOf(
  { may, isOperator }: Pick<CallerSession, 'may' | 'isOperator'>,
  frontdoorId: string | undefined,
): readonly NavigationGroup[] {
  const entry = (to: string, label: Label, key: string, isExact = false): NavigationEntry => ({
    to,
    label,
    key,
    isExact,
  });
  const groups: NavigationGroup[] = [];
  if (frontdoorId !== undefined) {
    const base = `/frontdoors/${frontdoorId}`;
    groups.push({
      title: 'frontdoor',
      entries: [
        entry(base, 'overview', 'o', true),
        entry(`${base}/shares`, 'shares', 's'),
        entry(`${base}/agents`, 'agents', 'a'),
        entry(`${base}/providers`, 'providers', 'l'),
        entry(`${base}/policies`, 'policies', 'p'),
        entry(`${base}/domains`, 'domains', 'd'),
        entry(`${base}/requests`, 'requests', 'r'),
        entry(`${base}/failures`, 'failures', 'f'),
      ],
    });
  }
  groups.push({
    title: 'organization',
    entries: [
      ...(may('listAuditEvents') ? [entry('/activity', 'activity', 'y')] : []),
      entry('/settings', 'settings', 't'),
    ],
  });
  if (isOperator) groups.push({ title: 'installation', entries: [entry('/mesh', 'mesh', 'm')] });
  return groups;
}
