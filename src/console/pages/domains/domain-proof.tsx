/** The proof of a domain. One that this console does not know is shown as it is. */
import type { ReactNode } from 'react';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { domainsText } from './domains-text.ts';

export const PROOFS = ['PENDING', 'PROVEN', 'GRANTED', 'MISSING'] as const;

const TONES: Readonly<Record<string, Tone>> = {
  PENDING: 'warn',
  PROVEN: 'good',
  GRANTED: 'good',
  MISSING: 'bad',
};

export function DomainProof({ proof }: { readonly proof: string }): ReactNode {
  const text = useText(domainsText);
  return <StateBadge tone={TONES[proof] ?? 'warn'}>{text.proofs(proof)}</StateBadge>;
}
