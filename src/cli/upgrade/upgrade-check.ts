/** The checks of `frontdoor upgrade --check`, in the version to which an installation is upgraded. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { lazy, messageOf } from '#base';
import type { InstallationAnswer, InstallationSummaryAnswer } from '#contract/schemas';
import { copiedFile, migrationCopy } from '#domain/backup';
import { minorsAhead } from '#domain/versions';
import { resolveAccess, type ResolvedAccess } from '../access/access.ts';
import { writeJson, type CliIo } from '../cli-io.ts';
import { describedSections } from '../config-file/config-key.ts';
import { fetchInstallation } from '../doctor/api-checks.ts';
import {
  failure,
  findingsText,
  ok,
  runChecks,
  skipped,
  warning,
  type Check,
  type CheckResult,
} from '../doctor/finding.ts';
import { ManagementClient } from '../management-client.ts';
import { entriesOf, pagesOf } from '../operations/list-pages.ts';
import type { UpgradeDatabase, UpgradeFlags, UpgradeRunner } from './upgrade-runner.ts';

export interface UpgradeParts {
  readonly version: string;
  readonly run: UpgradeRunner;
  readonly build: () => Promise<Command>;
  /** Whether the options have the values of the configuration file. */
  readonly isRead: boolean;
}

type VersionCounts = InstallationSummaryAnswer['agentVersions'];

const ATTENTION_STATUS = 1;
/** A program that reads the database is loaded first. */
const DEADLINE_MS = 30_000;
const MEGABYTE = 1_000_000;
const MOST_GATEWAYS = 2_000;
const UNKNOWN = 'no control plane of the installation could be asked';

/** A problem of the check itself is a finding. */
export async function runUpgradeCheck(io: CliIo, flags: UpgradeFlags, parts: UpgradeParts): Promise<void> {
  const access = await resolveAccess(flags, io);
  const installation = await fetchInstallation(access);
  const findings = await runChecks(
    [
      { name: 'version', run: () => Promise.resolve(versionVerdict(parts.version, installation)) },
      { name: 'schema', run: () => schemaVerdict(flags, parts, installation) },
      ...partChecks(access, installation, parts.version),
      { name: 'configuration', run: () => configurationVerdict(flags.config, parts) },
    ],
    DEADLINE_MS,
  );
  const attention = findings.filter(({ state }) => state === 'failure' || state === 'warning').length;
  if (flags.json === true) writeJson(io, { version: parts.version, findings, attention });
  else io.out(`${findingsText(findings)}\n${attention} of ${findings.length} checks need attention\n`);
  if (attention > 0) io.exitCode = ATTENTION_STATUS;
}

function versionVerdict(version: string, installation: InstallationAnswer | undefined): CheckResult {
  const before = installation?.version ?? undefined;
  if (before === undefined) return skipped(`${version}; ${UNKNOWN}`);
  const summary = `from ${before} to ${version}`;
  const ahead = minorsAhead(before, version);
  if (ahead === undefined || ahead === 0 || ahead === 1) return ok(summary);
  return ahead > 1
    ? failure(`${summary} leaves out a minor version`, 'upgrade through each minor version')
    : failure(`${summary} is a step back`, 'see "Return to the version before" in docs/guide/upgrading.md');
}

async function schemaVerdict(
  flags: UpgradeFlags,
  { run, isRead }: UpgradeParts,
  installation: InstallationAnswer | undefined,
): Promise<CheckResult> {
  if (installation?.database === undefined && !isRead)
    return skipped('the configuration file, which names the database, cannot be read');
  let database: UpgradeDatabase;
  try {
    database = installation?.database ?? (await run.readDatabase(flags));
  } catch (error) {
    return failure(messageOf(error), 'correct the options, or give access to the Management API');
  }
  const { kind, schema, bytes } = database;
  const steps = await run.schemaSteps();
  if (schema === undefined) return ok('the database is new');
  const at = steps.findIndex(({ name }) => name === schema);
  if (at < 0)
    return failure(
      `the database has the schema ${schema}, which this version does not know`,
      'use the version that has changed the database, or a newer one',
    );
  const pending = steps.slice(at + 1);
  if (pending.length === 0) return ok(`${schema} stays, and the version before can start on it`);
  const effects = pending.map(({ name, effect }) => `${name} (${effect})`).join(', ');
  return warning(
    `${pending.length} ${pending.length === 1 ? 'step' : 'steps'}: ${effects}. ${copyText(flags, migrationCopy(copiedFile(kind), pending[0]!.name), bytes)}`,
    'take a backup first ("frontdoor backup FILE"): the version before does not start on the new schema, and changes after the upgrade are lost on return',
  );
}

function copyText(flags: UpgradeFlags, name: string, bytes: number): string {
  const { migrationBackups, migrationBackupDir, dataDir } = flags;
  if (migrationBackups === 0)
    return 'The database is not copied before them, because --migration-backups is 0';
  const size = (bytes / MEGABYTE).toFixed(1);
  return `Before them, the control plane copies the database (${size} MB) to ${join(migrationBackupDir ?? dataDir, name)}`;
}

/** The parts that are connected, which work with a control plane of their own minor version or the next one. */
function partChecks(
  access: ResolvedAccess,
  installation: InstallationAnswer | undefined,
  version: string,
): Check[] {
  const asked = async <T>(work: (client: ManagementClient) => Promise<T>): Promise<T> => {
    const client = new ManagementClient(access);
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  };
  const summary = lazy(() => asked(summaryOf));
  const verdict = async (counts: () => Promise<VersionCounts>): Promise<CheckResult> => {
    if (installation === undefined) return skipped(UNKNOWN);
    if (installation.database === undefined) return skipped('requires the scope frontdoor.admin');
    return versionsVerdict(await counts(), version);
  };
  return [
    { name: 'routers', run: () => verdict(async () => (await summary()).routerVersions) },
    { name: 'gateways', run: () => verdict(() => asked(gatewayVersions)) },
    { name: 'agents', run: () => verdict(async () => (await summary()).agentVersions) },
  ];
}

async function summaryOf(client: ManagementClient): Promise<InstallationSummaryAnswer> {
  return (await client.call({ method: 'GET', path: '/summary' })) as InstallationSummaryAnswer;
}

async function gatewayVersions(client: ManagementClient): Promise<VersionCounts> {
  const ask = async (page: number, size: number) =>
    entriesOf(await client.call({ method: 'GET', path: `/fabric/gateways?page=${page}&size=${size}` }));
  const counts = new Map<string, number>();
  for await (const gateways of pagesOf(ask, MOST_GATEWAYS))
    for (const { version } of gateways)
      if (typeof version === 'string') counts.set(version, (counts.get(version) ?? 0) + 1);
  return [...counts].map(([version, count]) => ({ version, count }));
}

function versionsVerdict(counts: VersionCounts, version: string): CheckResult {
  const known = counts.filter((row): row is { version: string; count: number } => row.version !== null);
  if (known.length === 0) return skipped('none has reported a version');
  const shown = known.map((row) => `${row.count} of ${row.version}`).join(', ');
  const apart = known.filter((row) => {
    const ahead = minorsAhead(row.version, version);
    return ahead !== undefined && ahead !== 0 && ahead !== 1;
  });
  if (apart.length === 0) return ok(shown);
  return warning(
    `${shown}: ${apart.map((row) => row.version).join(', ')} and ${version} are not supported together`,
    'upgrade these parts to the minor version before this one first',
  );
}

async function configurationVerdict(file: string | undefined, { build }: UpgradeParts): Promise<CheckResult> {
  if (file === undefined) return skipped('no file is named with --config');
  const { readConfigFile } = await import('../config-file/config-file.ts');
  const problems = new Set<string>();
  for (const section of describedSections(await build())) {
    try {
      await readConfigFile(file, section, section.keys);
    } catch (error) {
      for (const line of messageOf(error).split('\n').slice(1)) problems.add(line.trim());
      if (!messageOf(error).includes('\n')) problems.add(messageOf(error));
    }
  }
  if (problems.size === 0) return ok(`${file} is valid in this version`);
  return failure([...problems].join('; '), 'change these keys before the programs start with this version');
}
