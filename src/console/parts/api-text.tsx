/**
 * A sentence of the API: a cause, a remedy, why a rule decided. It is English in every language of the console, because logs,
 * commands and error pages have the same sentence from one registry (ADR 0028), and someone who searches for it finds it. It is
 * marked as English, so that it is read aloud as such (WCAG 3.1.2).
 */
import type { ReactNode } from 'react';

export function ApiText({ children }: { readonly children: string }): ReactNode {
  return (
    <span lang="en" dir="ltr">
      {children}
    </span>
  );
}
