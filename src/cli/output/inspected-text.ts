/** A recorded request for people: both messages; a body that is not text is shown by its size. */
import { printable } from '#base/terminal';
import type { InspectedRequestAnswer } from '#contract/schemas';
import { timesText } from './failure-text.ts';

type Message = InspectedRequestAnswer['request'];

export function inspectedText(inspected: InspectedRequestAnswer): string {
  const { id, replayOf, at, method, target, status, client, identity, decision, failure } = inspected;
  const origin = replayOf === null ? `from ${printable(client)}` : `replay of ${printable(replayOf)}`;
  const who = identity === null ? '' : `, identified as ${printable(identity)}`;
  const ended = failure === null ? '' : `failed: ${printable(failure.cause)} (${printable(failure.code)})\n`;
  return (
    `${id}, at ${at}, ${origin}${who}, access: ${printable(decision)}\n${timesText(inspected.timingsMs)}\n${ended}\n` +
    `> ${printable(`${method} ${target}`)}\n${messageText('> ', inspected.request)}\n` +
    `< ${status}\n${messageText('< ', inspected.answer)}`
  );
}

function messageText(mark: string, { headers, body, bodyBytes, bodyIsWhole }: Message): string {
  const lines = headers.map(({ name, value }) => `${mark}${printable(`${name}: ${value}`)}\n`).join('');
  if (bodyBytes === 0) return lines;
  const bytes = Buffer.from(body ?? '', 'base64');
  const text = isText(bytes)
    ? bytes.toString().split('\n').map(printable).join('\n')
    : `(${bytes.length} bytes)`;
  const note = bodyIsWhole ? '' : `\n(${bytes.length} of ${bodyBytes} bytes are shown)`;
  return `${lines}\n${bytes.length === 0 ? '' : text}${note}\n`;
}

/** Whether a terminal shows it, and acts upon none of it. */
export function isText(bytes: Uint8Array): boolean {
  try {
    // eslint-disable-next-line no-control-regex -- what a terminal would act upon is no text
    return !/[\u0000-\u0008\u000E-\u001F]/.test(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return false;
  }
}
