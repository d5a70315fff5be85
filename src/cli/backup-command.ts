/**
 * `frontdoor backup FILE`: what the Management API streams, kept once it has proven whole. `frontdoor restore FILE`:
 * its options as values; what it does is wired in `bin/`, since no control plane runs yet.
 */
import { Command } from 'commander';
import { FrontdoorError } from '#base';
import type { BackupSummary } from '#domain';
import { addApiOptions, type ApiFlags } from './access/api-options.ts';
import { runCommand, writeJson, type CliIo } from './cli-io.ts';
import { addDatabaseOptions, type DatabaseOptions } from './database-option.ts';

export interface RestoreCommandOptions extends DatabaseOptions {
  readonly dataDir: string;
  readonly check: boolean;
  readonly json: boolean;
}

export interface RestoreOutcome extends BackupSummary {
  readonly keyFile: string;
  readonly hasKeyFile: boolean;
}

export interface RestoreRunner {
  restore(file: string, options: RestoreCommandOptions): Promise<RestoreOutcome>;
}

/** Until the first byte: an embedded database is copied before. */
const FIRST_BYTE_MS = 600_000;
const SILENCE_MS = 60_000;

export function backupCommands(io: CliIo, runner: RestoreRunner): Command[] {
  return [backupCommand(io), restoreCommand(io, runner)];
}

function backupCommand(io: CliIo): Command {
  return addApiOptions(new Command('backup').argument('<file>', 'where it goes (mode 0600); replaced'))
    .description('save everything that the database holds, as of one moment, while it is in use')
    .addHelpText(
      'after',
      '\nGET {base_url}/backup, needs the scope frontdoor.admin.\n' +
        'Secrets in it are sealed with secrets.key of the control plane, which is not in it: keep that apart.\n\n' +
        'Examples:\n  frontdoor backup /var/backups/frontdoor.backup\n  frontdoor backup now.backup --profile production\n',
    )
    .action(async (file: string, flags: ApiFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const { header, rows } = await saveBackup(io, file, flags);
        const count = rowCount(rows);
        if (flags.json === true) writeJson(io, { file, takenAt: header.takenAt, rows });
        else
          io.out(
            `${file}: ${count} rows, as of ${header.takenAt}. It opens with secrets.key alone: keep that apart.\n`,
          );
      });
    });
}

async function saveBackup(io: CliIo, file: string, flags: ApiFlags): Promise<BackupSummary> {
  // Late: the network's code is most of what a command loads.
  const [{ decodeBackup, replaceFileDurably }, { resolveAccess }, { ManagementClient }] = await Promise.all([
    import('#net'),
    import('./access/access.ts'),
    import('./management-client.ts'),
  ]);
  const client = new ManagementClient(await resolveAccess(flags, io), FIRST_BYTE_MS);
  const stop = new AbortController();
  try {
    return await replaceFileDurably(file, async (handle) => {
      const answer = await client.stream('/backup', { accept: 'application/gzip' }, SILENCE_MS, stop.signal);
      const kept = async function* (): AsyncGenerator<Uint8Array> {
        for await (const bytes of answer) {
          await handle.appendFile(bytes);
          yield bytes;
        }
      };
      for await (const items of decodeBackup(kept())) {
        for (const item of items) if (item.type === 'end') return item.summary;
      }
      throw new FrontdoorError('badGateway', 'backup_damaged', 'the backup is cut short');
    });
  } finally {
    stop.abort();
    await client.close();
  }
}

function restoreCommand(io: CliIo, runner: RestoreRunner): Command {
  return addDatabaseOptions(new Command('restore'))
    .argument('<file>', 'what "frontdoor backup" saved')
    .description('put a backup into an empty database, of either kind; no control plane may run on it')
    .option('--data-dir <dir>', 'where secrets.key is, and the embedded database goes', 'frontdoor-data')
    .option(
      '--check',
      'only read and check it: whole, and opened by the secrets.key of the data directory',
      false,
    )
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      '\nA backup goes with the secrets.key that it was taken with: copy that into the data directory first.\n\n' +
        'Examples:\n  frontdoor restore frontdoor.backup --check\n' +
        '  frontdoor restore frontdoor.backup --data-dir /var/lib/frontdoor\n',
    )
    .action(async (file: string, options: RestoreCommandOptions) => {
      await runCommand(io, options.json, async () => {
        const { header, rows, keyFile, hasKeyFile } = await runner.restore(file, options);
        const { takenAt } = header;
        if (options.json)
          return writeJson(io, { takenAt, rows, keyFile, hasKeyFile, restored: !options.check });
        const done = options.check ? 'is whole' : 'is restored';
        io.out(`${file} ${done}: ${rowCount(rows)} rows, as of ${takenAt}.\n`);
        if (hasKeyFile) io.out(`${keyFile} opens what it holds sealed.\n`);
        else io.out(`Put the secrets.key that it was taken with at ${keyFile}: nothing starts without it.\n`);
      });
    });
}

function rowCount(rows: BackupSummary['rows']): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}
