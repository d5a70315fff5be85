/** A state as sign, word and colour, so that none of the three is needed alone. */
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'good' | 'warn' | 'bad' | 'soft';

const SIGNS: Readonly<Record<Tone, IconName>> = {
  good: 'check',
  warn: 'warning',
  bad: 'cross',
  soft: 'clock',
};

export function StateBadge(props: { readonly tone: Tone; readonly children: ReactNode }): ReactNode {
  return (
    <span className={`fd-state fd-${props.tone}`}>
      <Icon name={SIGNS[props.tone]} />
      <span>{props.children}</span>
    </span>
  );
}
