/** How programs use a new API account or OAuth client: lines to copy, beside the secret that is shown once. */
import type { ReactNode } from 'react';
import { CodeBlock } from '../../parts/code-block.tsx';
import { place } from '../../place.ts';
import { useText } from '../../text/language.tsx';
import { examplesOf } from './credential-examples.ts';
import type { CredentialKind, ShownSecret } from './credential-kind.ts';
import { settingsText } from './settings-text.ts';

export function UseLines(props: {
  readonly kind: CredentialKind;
  readonly shown: ShownSecret | undefined;
}): ReactNode {
  const text = useText(settingsText);
  const { kind, shown } = props;
  if (shown === undefined) return null;
  return (
    <section aria-label={text.useIt}>
      <h3 className="fd-h3">{text.useIt}</h3>
      <p className="fd-soft">{text.useItText}</p>
      {examplesOf(kind.path, shown, place.baseUrl).map(({ name, code }) => (
        <div key={name}>
          <p className="fd-label">{text.useWith(name)}</p>
          <CodeBlock code={code} label={text.useWith(name)} />
        </div>
      ))}
    </section>
  );
}
