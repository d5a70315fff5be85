/**
 * `npm run clients`: clients of the Management API as three generators make them from `/openapi.json` of a running control
 * plane, each put to work on it: create, list, get, patch, delete, and a refusal. The generators, Python packages and
 * redocly install themselves below `.cache/`; they need `python3` with `venv`, `npm` and a Java 11 or newer in PATH.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinnedEnvironment, repositoryRoot } from '../../tools/pinned-process.ts';
import { descriptionOf } from '../fuzz/api-fuzz.ts';
import { startFuzzServer, type FuzzServer } from '../fuzz/fuzz-server.ts';
import { run, type Run } from './tool-run.ts';

const PYTHON_PACKAGES = [
  'openapi-generator-cli==7.26.0',
  'openapi-python-client==0.29.1',
  'ruff==0.14.5',
  'urllib3>=2.7,<3',
  'python-dateutil>=2.8.2',
  'pydantic>=2.11,<3',
  'typing-extensions>=4.7',
  'httpx',
  'attrs',
];
const NODE_PACKAGES = [
  '@redocly/cli@2.77.0',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'typescript@5.9.3',
];

const tools = join(repositoryRoot, '.cache', 'clients-2');
const work = join(tools, 'work');
const description = join(work, 'openapi.json');
const python = join(tools, 'python', 'bin', 'python');
const exercises = import.meta.dirname;

interface Check {
  readonly name: string;
  /** The problems; empty on success. */
  readonly judge: (server: FuzzServer, operationIds: readonly string[]) => Promise<readonly string[]>;
}

const checks: readonly Check[] = [
  { name: 'redocly lint', judge: lint },
  { name: 'openapi-typescript', judge: judgeTypescript },
  { name: 'openapi-python-client', judge: judgePythonClient },
  { name: 'openapi-generator (python)', judge: judgeGenerator },
];

async function main(): Promise<number> {
  await prepare();
  const server = await startFuzzServer();
  let failures = 0;
  try {
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { recursive: true });
    const document = await descriptionOf(server);
    writeFileSync(description, JSON.stringify(document));
    const operationIds = [...JSON.stringify(document).matchAll(/"operationId":"(\w+)"/g)].map(
      ([, id]) => id!,
    );
    for (const { name, judge } of checks) {
      const problems = await judge(server, operationIds);
      if (problems.length > 0) failures += 1;
      console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${name}`);
      for (const problem of problems) console.log(`        ${problem.replaceAll('\n', '\n        ')}`);
    }
    for (const error of server.errors.splice(0)) {
      failures += 1;
      console.log(`FAILED  the control plane logged: ${error}`);
    }
    console.log(`${checks.length} checks of ${operationIds.length} operations, ${failures} failed`);
  } finally {
    await server.close();
  }
  return failures === 0 ? 0 : 1;
}

async function lint(): Promise<readonly string[]> {
  const { status, output } = await nodeTool('redocly', ['lint', description, '--format', 'stylish']);
  const warnings = /You have (\d+) warning/.exec(output)?.[0];
  return status === 0 && warnings === undefined ? [] : [output];
}

async function judgeTypescript({ url, authorization }: FuzzServer, ids: readonly string[]) {
  // Written below the packages, so that the program finds them.
  const folder = join(tools, 'node', 'work');
  mkdirSync(folder, { recursive: true });
  const types = join(folder, 'api.d.ts');
  const made = await nodeTool('openapi-typescript', [description, '-o', types]);
  if (made.status !== 0) return [made.output];
  const source = readFileSync(types, 'utf8');
  const missing = ids.filter((id) => !new RegExp(`^\\s+${id}: \\{`, 'm').test(source));
  const program = join(folder, 'exercise.ts');
  writeFileSync(program, readFileSync(join(exercises, 'typescript-exercise.txt'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compiled = await nodeTool('tsc', [
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--moduleResolution',
    'nodenext',
    '--typeRoots',
    join(repositoryRoot, 'node_modules', '@types'),
    '--types',
    'node',
    '--skipLibCheck',
    program,
  ]);
  if (compiled.status !== 0) return [compiled.output];
  return [
    ...dropped(missing),
    ...(await exercise(process.execPath, [program.replace(/ts$/, 'js')], url, authorization)),
  ];
}

async function judgePythonClient({ url, authorization }: FuzzServer, ids: readonly string[]) {
  const target = join(work, 'python-client');
  const config = join(work, 'python-client.yml');
  writeFileSync(config, 'content_type_overrides:\n  application/gzip: application/octet-stream\n');
  const made = await run(
    join(tools, 'python', 'bin', 'openapi-python-client'),
    ['generate', '--path', description, '--output-path', target, '--overwrite', '--config', config],
    { PATH: `${join(tools, 'python', 'bin')}:${process.env['PATH'] ?? ''}` },
  );
  if (made.status !== 0 || /WARNING|Warning|Unable/.test(made.output)) return [made.output];
  const files = new Set(
    readdirSync(target, { recursive: true }).map((file) => String(file).split('/').at(-1)!),
  );
  const missing = ids.filter((id) => !files.has(`${snakeCase(id)}.py`));
  const problems = await exercise(
    python,
    [join(exercises, 'python_client_exercise.py')],
    url,
    authorization,
    target,
  );
  return [...dropped(missing), ...problems];
}

async function judgeGenerator({ url, authorization }: FuzzServer, ids: readonly string[]) {
  const target = join(work, 'generator');
  const made = await run(join(tools, 'python', 'bin', 'openapi-generator-cli'), [
    'generate',
    '-i',
    description,
    '-g',
    'python',
    '-o',
    target,
  ]);
  if (made.status !== 0) return [made.output];
  const api = join(target, 'openapi_client', 'api');
  const source = readdirSync(api)
    .map((file) => readFileSync(join(api, file), 'utf8'))
    .join('\n');
  const missing = ids.filter((id) => !source.includes(`def ${snakeCase(id)}(`));
  const problems = await exercise(
    python,
    [join(exercises, 'generator_exercise.py')],
    url,
    authorization,
    target,
  );
  return [...dropped(missing), ...problems];
}

function dropped(ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? [] : [`dropped operations: ${ids.join(', ')}`];
}

/** The program prints `done` on success. */
async function exercise(
  command: string,
  args: readonly string[],
  url: string,
  authorization: string,
  pythonPath = '',
): Promise<readonly string[]> {
  const { status, output } = await run(command, args, {
    PYTHONPATH: pythonPath,
    PYTHONDONTWRITEBYTECODE: '1',
    FRONTDOOR_CLIENT_URL: url,
    FRONTDOOR_CLIENT_AUTHORIZATION: authorization,
  });
  return status === 0 && output.trim().endsWith('done') ? [] : [output];
}

/** As the generators name functions and modules. */
function snakeCase(id: string): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function nodeTool(name: string, args: readonly string[]): Promise<Run> {
  const bin = join(tools, 'node', 'node_modules', '.bin', name);
  return run(bin, args, {
    ...pinnedEnvironment(),
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  });
}

async function prepare(): Promise<void> {
  const ready = join(tools, 'ready');
  if (existsSync(ready)) return;
  console.log('installing the generators below .cache/');
  const steps: readonly (readonly [string, readonly string[]])[] = [
    ['python3', ['-m', 'venv', '--clear', join(tools, 'python')]],
    [python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PYTHON_PACKAGES]],
    [
      'npm',
      ['install', '--silent', '--no-audit', '--no-fund', '--prefix', join(tools, 'node'), ...NODE_PACKAGES],
    ],
  ];
  for (const [command, args] of steps) {
    const { status, output } = await run(command, args);
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${output}`);
  }
  writeFileSync(ready, '');
}

process.exitCode = await main();
