/**
 * Runs schemathesis, which nobody here wrote, against a control plane by its own `/openapi.json`. It lives in a Python
 * environment of its own below `.cache/`, made on the first run.
 */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { descriptionOf } from './api-fuzz.ts';
import type { FuzzServer } from './fuzz-server.ts';

const SCHEMATHESIS = '4.32.5';
const VALIDATOR = '0.9.0';
const environment = join(repositoryRoot, '.cache', `schemathesis-${SCHEMATHESIS}`);
const python = join(environment, 'bin', 'python');

/** In a run of their own: what ends the frontdoor that all others stand in, and what is left out unless it is named. */
const APART = ['deleteFrontdoor', 'getOpenApi'] as const;

export interface SchemathesisRun {
  readonly seed: number;
  /** Cases for each operation. */
  readonly examples: number;
}

/** Whether every check passed. Its report goes where our output goes. */
export async function runSchemathesis(server: FuzzServer, run: SchemathesisRun): Promise<boolean> {
  await prepare();
  const document = join(environment, 'openapi.json');
  writeFileSync(document, JSON.stringify(await descriptionOf(server)));
  const isValid = await succeeds(python, ['-m', 'openapi_spec_validator', '--schema', '3.1', document]);
  const passes = [
    APART.flatMap((id) => ['--exclude-operation-id', id]),
    APART.flatMap((id) => ['--include-operation-id', id]),
  ];
  let passed = isValid;
  for (const selection of passes) passed = (await check(server, run, selection)) && passed;
  return passed;
}

/** Runs with every check: all are on unless the configuration turns one off. */
function check(
  server: FuzzServer,
  { seed, examples }: SchemathesisRun,
  selection: readonly string[],
): Promise<boolean> {
  const config = join(import.meta.dirname, 'schemathesis.toml');
  return succeeds(
    python,
    [
      '-m',
      'schemathesis.cli',
      '--config-file',
      config,
      'run',
      `${server.url}/openapi.json`,
      '--seed',
      String(seed),
      '--max-examples',
      String(examples),
      '--continue-on-failure',
      '--no-color',
      ...selection,
    ],
    {
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
      FRONTDOOR_FUZZ_ACCOUNT: server.first.accountId,
      FRONTDOOR_FUZZ_TOKEN: server.first.apiToken,
      ...Object.fromEntries(
        Object.entries(server.known).map(([name, value]) => [
          `FRONTDOOR_FUZZ_KNOWN_${name.toUpperCase().replace('-', '_')}`,
          value,
        ]),
      ),
    },
  );
}

async function prepare(): Promise<void> {
  if (existsSync(join(environment, 'ready'))) return;
  const steps: readonly (readonly [string, readonly string[]])[] = [
    ['python3', ['-m', 'venv', '--clear', environment]],
    [
      python,
      [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        `schemathesis==${SCHEMATHESIS}`,
        `openapi-spec-validator==${VALIDATOR}`,
      ],
    ],
    [python, ['-c', `open(${JSON.stringify(join(environment, 'ready'))}, 'w')`]],
  ];
  for (const [command, args] of steps) {
    if (!(await succeeds(command, args))) throw new Error(`${command} ${args.join(' ')} failed`);
  }
}

function succeeds(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<boolean> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  child.on('error', reject);
  child.on('close', (code) => resolve(code === 0));
  return promise;
}
