/**
 * `frontdoor setup`: from answers to a running installation. The machine is checked before anything is written, and the file is
 * replaced in one step, so that an interrupted setup leaves what was there.
 */
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FrontdoorError } from '#base';
import { readJsonObject } from '#base/shapes';
import type { LoginQuestions } from '../access/login-questions.ts';
import type { CliIo } from '../cli-io.ts';
import type { ConfigKey } from '../config-file/config-key.ts';
import { findingsText, runChecks } from '../doctor/finding.ts';
import { setupAnswers, type SetupAnswers, type SetupFlags } from './setup-answers.ts';
import { setupChecks } from './setup-checks.ts';
import {
  changeLine,
  changesOf,
  readFormerFile,
  setupText,
  writeSetupFile,
  type FormerFile,
} from './setup-file.ts';
import type { SetupService } from './setup-service.ts';

export interface SetupRun {
  readonly io: CliIo;
  readonly flags: SetupFlags;
  readonly version: string;
  /** Undefined where no person can answer. */
  readonly questions: LoginQuestions | undefined;
  readonly service: SetupService;
  /** The keys that "frontdoor up" knows. */
  readonly keys: readonly ConfigKey[];
}

const LINK_FILE = 'console-link.json';
const LINK_WAIT_MS = 60_000;
const LOOK_MS = 250;

export async function runSetup(run: SetupRun): Promise<void> {
  const { io, flags, version, questions } = run;
  const config = resolve(flags.config);
  const former = await readFormerFile(config);
  const answers = await setupAnswers(flags, former.up, questions);
  checkDataDir(run, config, answers);
  const findings = await runChecks(setupChecks(answers, former.up['acmeDirectory'], version));
  io.out(findingsText(findings));
  const isWell = findings.every(({ state }) => state !== 'failure');
  if (!isWell)
    await confirmed(
      run,
      'Continue although a check failed?',
      'a check failed: correct it, or continue with --yes',
    );
  await write(run, config, former, answers);
  await start(run, config, answers);
}

function checkDataDir({ flags, service }: SetupRun, config: string, { dataDir }: SetupAnswers): void {
  if (!flags.start || dataDir === service.dataDir || !service.hasUnit(config)) return;
  const message = `the service frontdoor has its data in ${service.dataDir}: choose that directory, or another file with --config`;
  throw new FrontdoorError('invalid', 'value', message);
}

async function write(
  run: SetupRun,
  config: string,
  former: FormerFile,
  answers: SetupAnswers,
): Promise<void> {
  const { io, keys } = run;
  const changes = changesOf(former, answers);
  const text = setupText(config, former, changes, keys);
  if (changes.length === 0) return io.out(`${config} needs no change\n`);
  io.out(`${former.exists ? 'changes of' : 'new file'} ${config}:\n${changes.map(changeLine).join('')}`);
  if (former.exists)
    await confirmed(
      run,
      'Change the file?',
      `${config} exists: change it with --yes, or write another file with --config`,
    );
  await writeSetupFile(config, text);
  io.out(`written ${config}\n`);
}

async function start({ io, flags, service }: SetupRun, config: string, answers: SetupAnswers): Promise<void> {
  const { dataDir } = answers;
  if (!flags.start || !service.hasUnit(config)) {
    io.out(
      `\nStart it with:\n  frontdoor up --config ${config}\n` +
        `The first start prints the link of the console on a terminal, and writes it to ${join(dataDir, LINK_FILE)}.\n`,
    );
    return;
  }
  const before = await linkTimeOf(dataDir);
  const problem = service.start();
  if (problem !== undefined)
    throw new FrontdoorError(
      'unavailable',
      'service-start-failed',
      `the service did not start: ${problem}; "journalctl -u frontdoor" has its log`,
    );
  io.out('the service frontdoor runs, and starts with the machine\n');
  await showLink(io, answers, before);
}

/** Only a first start writes a link. */
async function showLink(
  io: CliIo,
  { dataDir, apiName, httpsPort, adminEmail }: SetupAnswers,
  before: number,
): Promise<void> {
  const signal = AbortSignal.timeout(LINK_WAIT_MS);
  while (before === 0 && (await linkTimeOf(dataDir)) === 0 && !signal.aborted)
    await delay(LOOK_MS, undefined, { signal }).catch(() => {});
  if (before === 0 && (await linkTimeOf(dataDir)) > 0) {
    const { link } = readJsonObject(await readFile(join(dataDir, LINK_FILE), 'utf8'));
    return io.out(
      `\nOpen this link within an hour. It makes ${adminEmail ?? 'you'} the first operator:\n  ${String(link)}\n`,
    );
  }
  const port = httpsPort === 443 ? '' : `:${httpsPort}`;
  io.out(
    `\nconsole: https://${apiName}${port}/console ("frontdoor console link" creates a link for a further operator)\n`,
  );
}

async function linkTimeOf(dataDir: string): Promise<number> {
  return (await stat(join(dataDir, LINK_FILE)).catch(() => undefined))?.mtimeMs ?? 0;
}

/** Throws if a person says no, or if nobody can be asked and --yes is missing. */
async function confirmed({ flags, questions }: SetupRun, question: string, refusal: string): Promise<void> {
  if (flags.yes) return;
  if (questions === undefined)
    throw new FrontdoorError('invalid', 'not-confirmed', `nothing was changed: ${refusal}`);
  if (await questions.confirm(question)) return;
  throw new FrontdoorError('invalid', 'cancelled', 'nothing was changed');
}
