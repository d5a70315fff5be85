/** `frontdoor import FILE`: prints the configuration of another program as a file for an agent. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { FrontdoorError, messageOf } from '#base';
import { runCommand, type CliIo } from '../cli-io.ts';
import type { ImportedFile, ImportFormatName } from './import-file.ts';

const FORMATS: readonly ImportFormatName[] = ['cloudflared', 'ngrok', 'frpc', 'caddy', 'zrok'];
const FILE_MODE = 0o600;

interface ImportFlags {
  readonly from?: ImportFormatName;
  readonly out?: string;
}

export function importCommand(io: CliIo): Command {
  const command = new Command('import')
    .argument(
      '<file>',
      'configuration of cloudflared (config.yml), ngrok (ngrok.yml), frpc (frpc.toml, frpc.ini), zrok (zrok-share.env) or Caddy (Caddyfile, or its JSON)',
    )
    .description("print the configuration of another program as an agent's file")
    .addOption(
      new Option('--from <program>', 'program of the file, if no key of it shows which').choices(FORMATS),
    )
    .option(
      '--out <file>',
      'file to write, which must not exist, such as agent.yml; without it, standard output',
    )
    .addHelpText(
      'after',
      '\nStandard error lists what could not be carried over, with its line and what to do instead. Passwords and tokens are\n' +
        'not carried over. Nothing is changed at the other program. A Caddyfile is read by "caddy adapt", if caddy is in PATH.\n\n' +
        'Examples:\n  frontdoor import /etc/cloudflared/config.yml --out agent.yml\n  frontdoor agent start --config agent.yml\n',
    )
    .action((file: string, flags: ImportFlags) => runCommand(io, false, () => importTo(io, file, flags)));
  return command;
}

async function importTo(io: CliIo, file: string, { from, out }: ImportFlags): Promise<void> {
  const { importFile } = await import('./import-file.ts');
  const imported = importFile(file, textOf(file), { from, path: io.env['PATH'] });
  for (const { line, key, advice } of imported.remarks) io.err(`${file}:${line} ${key}: ${advice}\n`);
  if (imported.shares + imported.accesses === 0)
    throw new FrontdoorError('invalid', 'config-invalid', `${file} has no share that can be carried over`);
  if (out === undefined) io.out(imported.text);
  else write(out, imported.text);
  io.err(summaryOf(imported));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FrontdoorError('invalid', 'config-unreadable', `cannot read ${file}: ${messageOf(error)}`);
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: FILE_MODE, flag: 'wx' });
  } catch (error) {
    throw new FrontdoorError(
      'invalid',
      'config-unreadable',
      `cannot write ${file}: ${messageOf(error)}; choose a file that does not exist`,
    );
  }
}

function summaryOf({ shares, accesses, remarks }: ImportedFile): string {
  const parts = [countText(shares, 'share'), ...(accesses === 0 ? [] : [countText(accesses, 'access')])];
  const left = remarks.length === 0 ? 'Everything was carried over' : countText(remarks.length, 'remark');
  return `${parts.join(', ')}. ${left}.\n`;
}

function countText(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun}${noun.endsWith('s') ? 'es' : 's'}`;
}
