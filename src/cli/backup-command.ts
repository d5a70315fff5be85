/**
 * `frontdoor backup FILE`: saves the stream of the Management API once it has been verified to be complete;
 * with `--keep`, in a folder of dated files.
 * `frontdoor restore FILE`: its options as values; `bin/` wires the implementation, since no control plane runs
 * at that time.
 */
import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { systemClock } from '#base';
import type { BackupSummary } from '#domain/backup';
import { addApiOptions, type ApiFlags } from './access/api-options.ts';
import { runCommand, writeJson, type CliIo } from './cli-io.ts';
import { addServerConfigOption, takeServerValues } from './config-file/server-config.ts';
import { addDatabaseOptions, type DatabaseOptions } from './database-option.ts';
import { wholeNumber } from './value-parser.ts';

export interface RestoreCommandOptions extends DatabaseOptions {
  readonly dataDir: string;
  readonly check: boolean;
  readonly json: boolean;
}

interface BackupFlags extends ApiFlags {
  /** The argument is a directory then. */
  readonly keep?: number;
}

export interface RestoreOutcome extends BackupSummary {
  readonly keyFile: string;
  readonly hasKeyFile: boolean;
}

export interface RestoreRunner {
  restore(file: string, options: RestoreCommandOptions): Promise<RestoreOutcome>;
}

/** Time until the first byte, because an embedded database is copied first. */
const FIRST_BYTE_MS = 600_000;
const SILENCE_MS = 60_000;
const MAX_KEPT = 10_000;

export function backupCommands(io: CliIo, runner: RestoreRunner): Command[] {
  return [backupCommand(io), restoreCommand(io, runner)];
}

function backupCommand(io: CliIo): Command {
  const command = new Command('backup').argument(
    '<file>',
    'file to write (mode 0600); an existing file is replaced; with --keep, the directory of dated files',
  );
  return addApiOptions(command)
    .addOption(
      new Option(
        '--keep <number>',
        'write a file named after the current time into the directory, then remove the oldest of these files beyond this number; for example 7',
      ).argParser(wholeNumber(1, MAX_KEPT)),
    )
    .description('back up a consistent snapshot of the whole database, while it is in use')
    .addHelpText(
      'after',
      '\nGET {base_url}/backup, requires the scope frontdoor.admin. It supports both kinds of database.\n' +
        "Secrets in the backup are encrypted with the control plane's secrets.key, which it does not contain: keep that apart.\n\n" +
        'Examples:\n  frontdoor backup /var/backups/frontdoor.backup\n  frontdoor backup now.backup --profile production\n' +
        '  frontdoor backup --keep 7 /var/backups/frontdoor   # every day, from cron or a systemd timer\n',
    )
    .action(async (target: string, flags: BackupFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const { file, summary, removed } = await writeBackup(io, target, flags);
        const { header, rows } = summary;
        if (flags.json === true) return writeJson(io, { file, takenAt: header.takenAt, rows, removed });
        const count = rowCount(rows);
        io.out(
          `${file}: ${count} rows, as of ${header.takenAt}. Only secrets.key decrypts its secrets: store that file separately.\n`,
        );
        if (removed.length > 0) io.out(`Removed ${removed.join(', ')}.\n`);
      });
    });
}

interface WrittenBackup {
  readonly file: string;
  readonly summary: BackupSummary;
  /** Names of the older backups that were removed. */
  readonly removed: readonly string[];
}

/** An older backup is removed only after the new one is verified and on disk. */
async function writeBackup(io: CliIo, target: string, flags: BackupFlags): Promise<WrittenBackup> {
  const { keep } = flags;
  if (keep === undefined) return { file: target, summary: await saveBackup(io, target, flags), removed: [] };
  const { datedBackupFile, removeOldBackups } = await import('./backup-folder.ts');
  const file = await datedBackupFile(target, systemClock.nowMs());
  const summary = await saveBackup(io, file, flags);
  const nowMs = systemClock.nowMs();
  const removed = await removeOldBackups(target, { keep, written: basename(file), nowMs });
  return { file, summary, removed };
}

async function saveBackup(io: CliIo, file: string, flags: ApiFlags): Promise<BackupSummary> {
  // Imported late, because the network code is most of what a command loads.
  const [{ replaceFileDurably, verifiedBackup }, { resolveAccess }, { ManagementClient }] = await Promise.all(
    [import('#net/files'), import('./access/access.ts'), import('./management-client.ts')],
  );
  const client = new ManagementClient(await resolveAccess(flags, io), FIRST_BYTE_MS);
  const stop = new AbortController();
  try {
    return await replaceFileDurably(file, async (handle) => {
      const answer = await client.stream('/backup', { accept: 'application/gzip' }, SILENCE_MS, stop.signal);
      return verifiedBackup(handle, answer);
    });
  } finally {
    stop.abort();
    await client.close();
  }
}

function restoreCommand(io: CliIo, runner: RestoreRunner): Command {
  const command = addServerConfigOption(addDatabaseOptions(new Command('restore')));
  return command
    .argument('<file>', 'file that "frontdoor backup" wrote')
    .description(
      'restore a backup into an empty database of either kind, while no control plane is running on it',
    )
    .option('--data-dir <dir>', 'directory of secrets.key and of the embedded database', 'frontdoor-data')
    .option(
      '--check',
      'only verify the backup: that it is complete, and that the secrets.key of the data directory decrypts it',
      false,
    )
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      '\nA backup needs the secrets.key of its control plane: copy that file into the data directory first.\n\n' +
        'Examples:\n  frontdoor restore frontdoor.backup --check\n' +
        '  frontdoor restore frontdoor.backup --data-dir /var/lib/frontdoor\n',
    )
    .action(async (file: string, { json }: RestoreCommandOptions) => {
      await runCommand(io, json, async () => {
        await takeServerValues(io, command);
        const options = command.opts<RestoreCommandOptions>();
        const { header, rows, keyFile, hasKeyFile } = await runner.restore(file, options);
        const { takenAt } = header;
        if (json) return writeJson(io, { takenAt, rows, keyFile, hasKeyFile, restored: !options.check });
        const done = options.check ? 'is valid' : 'has been restored';
        io.out(`${file} ${done}: ${rowCount(rows)} rows, as of ${takenAt}.\n`);
        if (hasKeyFile) io.out(`${keyFile} decrypts its secrets.\n`);
        else
          io.out(
            `Copy the secrets.key of its control plane to ${keyFile}: the control plane does not start without it.\n`,
          );
      });
    });
}

function rowCount(rows: BackupSummary['rows']): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}
