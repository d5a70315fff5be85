/** The state of a share. A state that this console does not know is shown as it is. */
import type { ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { sharesText } from './shares-text.ts';

const TONES: Readonly<Record<string, Tone>> = { PENDING: 'soft', DEPLOYED: 'good', FAILED: 'bad' };

export function ShareState({
  status,
  access,
}: {
  readonly status: string;
  /** Left out where only the way to the service is shown. */
  readonly access?: ShareAnswer['access'];
}): ReactNode {
  const text = useText(sharesText);
  // A service that is reached, and that nobody may use, does not "work" for its visitors.
  if (status === 'DEPLOYED' && access?.admits === 'nobody')
    return <StateBadge tone="soft">{text.closed}</StateBadge>;
  return <StateBadge tone={TONES[status] ?? 'warn'}>{text.state(status)}</StateBadge>;
}
