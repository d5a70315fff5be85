/** How to send a first request to a share, for pages that have none to show yet. Private shares have no web address. */
import type { ReactNode } from 'react';
import { CodeBlock } from '../../parts/code-block.tsx';
import { shellWord } from '../../parts/first-command.ts';
import { defineText } from '../../text/define-text.ts';
import { useText } from '../../text/language.tsx';
import { useShare } from './share-frame.tsx';

const visitText = defineText({
  en: { command: 'Command', send: 'Open the address of the share, or send a request from a terminal:' },
  de: {
    command: 'Befehl',
    send: 'Öffnen Sie die Adresse der Freigabe, oder senden Sie eine Anfrage aus einem Terminal:',
  },
});

export function VisitCommand(): ReactNode {
  const text = useText(visitText);
  const [address] = useShare().data?.body.frontendEndpoints ?? [];
  // Only HTTP has a request that anybody could send.
  if (address === undefined || !address.startsWith('http')) return null;
  return (
    <>
      <p className="fd-soft">{text.send}</p>
      <CodeBlock code={`curl -i ${shellWord(address)}`} label={text.command} />
    </>
  );
}
