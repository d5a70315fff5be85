/** Commands or a file, to read and to copy. */
import type { ReactNode } from 'react';
import { CopyButton } from './copy-text.tsx';

export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }): ReactNode {
  return (
    <div className="fd-code-block">
      <pre className="fd-code" tabIndex={0} role="region" aria-label={label}>
        {code}
      </pre>
      <CopyButton value={code} />
    </div>
  );
}
