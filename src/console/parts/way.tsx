/** The way of a request, hop by hop, and the hop at which it broke. A list for those who do not see the picture. */
import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

export interface WayHop {
  readonly id: string;
  readonly name: string;
  /** An address or a name. */
  readonly detail?: ReactNode;
  readonly state: 'works' | 'refused' | 'broken' | 'unknown';
  /** The state in words. */
  readonly stateText: string;
}

const SIGNS = { works: 'check', refused: 'cross', broken: 'cross', unknown: 'dash' } as const;
const TONES = { works: 'fd-good', refused: 'fd-warn', broken: 'fd-bad', unknown: 'fd-soft' } as const;

export function Way({
  hops,
  label,
}: {
  readonly hops: readonly WayHop[];
  readonly label: string;
}): ReactNode {
  return (
    <ol className="fd-way" aria-label={label}>
      {hops.map(({ id, name, detail, state, stateText }) => (
        <li key={id} className={TONES[state]} data-state={state}>
          <span className="fd-state">
            <Icon name={SIGNS[state]} />
            <strong>{name}</strong>
          </span>
          <span className="fd-small">{stateText}</span>
          {detail === undefined ? null : <span className="fd-small fd-mono">{detail}</span>}
        </li>
      ))}
    </ol>
  );
}
