/** The sentence of the API about who may come in to a share. A share that admits everyone stands out. */
import type { ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { ApiText } from '../../parts/api-text.tsx';

const CLASSES: Readonly<Record<string, string>> = { everyone: 'fd-warn', nobody: 'fd-soft' };

export function WhoMayComeIn({ access }: Pick<ShareAnswer, 'access'>): ReactNode {
  return (
    <span className={CLASSES[access.admits]}>
      <ApiText>{access.summary}</ApiText>
    </span>
  );
}
