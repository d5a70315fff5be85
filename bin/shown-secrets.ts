/**
 * Secrets that are shown once: they are kept in a file that only its owner may read, and printed on a terminal. Service
 * managers and containers log standard output, so no secret goes there.
 */
import process from 'node:process';
import { messageOf } from '#base';
import { writeFileDurably } from '#net/files';

export interface ShownSecrets {
  readonly title: string;
  /** The secrets by their printed name. */
  readonly lines: Readonly<Record<string, string>>;
  /** The file's content, written as JSON. */
  readonly content: object;
}

/** Rejects when they can be neither kept nor shown. */
export async function keepAndShow(file: string, { title, lines, content }: ShownSecrets): Promise<void> {
  const print = (text: string): void => void process.stdout.write(text);
  let problem: string | undefined;
  try {
    await writeFileDurably(file, `${JSON.stringify(content, null, 2)}\n`, 0o600);
  } catch (error) {
    if (!process.stdout.isTTY) throw error;
    problem = messageOf(error);
  }
  if (process.stdout.isTTY) {
    const width = Math.max(...Object.keys(lines).map((name) => name.length));
    const shown = Object.entries(lines).map(([name, value]) => `    ${name.padEnd(width)}  ${value}\n`);
    print(`\n  ${title}: these secrets are shown once, keep them.\n\n${shown.join('')}\n`);
  }
  if (problem === undefined)
    print(`frontdoor: ${title}: the secrets are in ${file} (delete it once they are kept elsewhere)\n`);
  else print(`frontdoor: they could not be written to ${file}: ${problem}\n`);
}
