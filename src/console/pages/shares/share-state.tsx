/** The state of a share. A state that this console does not know is shown as it is. */
import type { ReactNode } from 'react';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { sharesText } from './shares-text.ts';

const TONES: Readonly<Record<string, Tone>> = { PENDING: 'soft', DEPLOYED: 'good', FAILED: 'bad' };

export function ShareState({ status }: { readonly status: string }): ReactNode {
  const text = useText(sharesText);
  return <StateBadge tone={TONES[status] ?? 'warn'}>{text.state(status)}</StateBadge>;
}
