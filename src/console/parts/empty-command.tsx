/** The command line's way to the first thing of an empty list, to copy. */
import type { ReactNode } from 'react';
import { apiUrlHere } from '../place.ts';
import { defineText } from '../text/define-text.ts';
import { useText } from '../text/language.tsx';
import { CodeBlock } from './code-block.tsx';
import { firstCommand, type FirstCommand } from './first-command.ts';

const emptyCommandText = defineText({
  en: {
    command: 'Command',
    intro: (kind: FirstCommand) =>
      ({
        agent: 'Or create a code on the command line:',
        share: 'Or run this on the machine of the agent:',
        provider: 'Or create one on the command line, for example for programs with a key:',
        policy: 'Or create one on the command line, for example for the network of an office:',
        domain: 'Or add one on the command line:',
        why: 'The command line explains an error ID, too:',
      })[kind],
  },
  de: {
    command: 'Befehl',
    intro: (kind: FirstCommand) =>
      ({
        agent: 'Oder erstellen Sie einen Code auf der Kommandozeile:',
        share: 'Oder führen Sie das auf dem Rechner des Agenten aus:',
        provider:
          'Oder erstellen Sie einen auf der Kommandozeile, zum Beispiel für Programme mit einem Schlüssel:',
        policy: 'Oder erstellen Sie eine auf der Kommandozeile, zum Beispiel für das Netz eines Büros:',
        domain: 'Oder fügen Sie eine auf der Kommandozeile hinzu:',
        why: 'Auch die Kommandozeile erklärt eine Fehler-ID:',
      })[kind],
  },
});

export function EmptyCommand({ kind }: { readonly kind: FirstCommand }): ReactNode {
  const text = useText(emptyCommandText);
  return (
    <>
      <p className="fd-soft">{text.intro(kind)}</p>
      <CodeBlock code={firstCommand(kind, apiUrlHere())} label={text.command} />
    </>
  );
}
