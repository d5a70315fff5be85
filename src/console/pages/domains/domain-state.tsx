/** The state of a domain. A state that this console does not know is shown as it is. */
import type { ReactNode } from 'react';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { domainsText } from './domains-text.ts';

const TONES: Readonly<Record<string, Tone>> = { NEW: 'soft', PENDING: 'warn', ACTIVE: 'good' };

export function DomainState({ status }: { readonly status: string }): ReactNode {
  const text = useText(domainsText);
  return <StateBadge tone={TONES[status] ?? 'warn'}>{text.states(status)}</StateBadge>;
}
