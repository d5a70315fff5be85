/**
 * A sentence of the API: a cause, a remedy, why a rule decided. Logs, commands and error pages have the same English sentence from one
 * registry (ADR 0028). Another language has a sentence of its own for each code (ADR 0117); where the code is not known, or has details that only
 * the API knows, the English one is shown, marked as such, so that it is read aloud as English (WCAG 3.1.2).
 */
import type { ReactNode } from 'react';
import { sentenceFor, type SentenceKind } from '../text/api-sentences.ts';
import { useLanguage } from '../text/language.tsx';

export function ApiText(props: {
  readonly children: string;
  /** The code that the sentence belongs to, if it has one. */
  readonly code?: string | undefined;
  /** What the sentence is about, if it has a code: by default a cause. */
  readonly kind?: SentenceKind | undefined;
  /** Whether the sentence of the API follows a translated one, because it may name what only this case has. */
  readonly keepsOriginal?: boolean | undefined;
}): ReactNode {
  const { children, code, kind = 'cause', keepsOriginal = false } = props;
  const { catalogue } = useLanguage();
  const own = code === undefined ? undefined : sentenceFor(catalogue, kind, code);
  if (own === undefined) return <English>{children}</English>;
  if (!keepsOriginal || children === '') return <span title={children}>{own}</span>;
  return (
    <>
      {own}{' '}
      <span className="fd-soft fd-small">
        <English>{children}</English>
      </span>
    </>
  );
}

function English({ children }: { readonly children: string }): ReactNode {
  return (
    <span lang="en" dir="ltr">
      {children}
    </span>
  );
}
