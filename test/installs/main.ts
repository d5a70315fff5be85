/**
 * `npm run installs [-- NAME…]`: installs what a release consists of on bare machines, in each way that the guides describe, and uses it.
 * Each way is a file of `rows/`; arguments are texts that names contain. It needs root on Linux, takes minutes, and is no part of CI.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { findCommand } from '../support/child-process.ts';
import { Transcript, type Install } from './scenario.ts';

const rowFolder = join(import.meta.dirname, 'rows');

async function main(patterns: readonly string[]): Promise<number> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    console.error('npm run installs: only root on Linux can make machines');
    return 69;
  }
  const files = readdirSync(rowFolder).filter((name) => name.endsWith('.ts'));
  const modules = await Promise.all(
    files
      .toSorted()
      .map(async (name) => (await import(join(rowFolder, name))) as { readonly install: Install }),
  );
  const installs = modules
    .map(({ install }) => install)
    .filter(({ name }) => patterns.length === 0 || patterns.some((text) => name.includes(text)));
  const counts = { ok: 0, failed: 0, skipped: 0 };
  const tables: string[] = [];
  for (const install of installs) {
    const missing = Object.entries(install.needs).filter(([program]) => findCommand(program) === undefined);
    if (missing.length > 0) {
      counts.skipped += 1;
      console.log(`skipped ${install.name}: apt-get install ${missing.map(([, name]) => name).join(' ')}`);
      continue;
    }
    const transcript = new Transcript(install.name);
    try {
      await install.run(transcript);
      counts.ok += 1;
      console.log(`ok      ${install.name}: ${install.shows}`);
    } catch (error) {
      counts.failed += 1;
      console.log(`failed  ${install.name}: ${(error as Error).stack}`);
    }
    tables.push(transcript.table());
  }
  console.log(`\n${tables.join('\n')}`);
  const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
  console.log(`${counts.ok} of ${counts.ok + counts.failed} ways to install work${skipped}`);
  return counts.failed === 0 ? 0 : 1;
}

// Machines end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main(process.argv.slice(2));
