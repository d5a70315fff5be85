/**
 * `frontdoor dev check`: types, purity, lint, format, architecture tests, figures and subjects of commits, in that order, each with its time.
 * A failed step does not hide the next ones. `dev check lint` runs one step.
 */
import { runPinned } from './pinned-process.ts';

interface CheckStep {
  readonly name: string;
  readonly about: string;
  readonly args: readonly string[];
  readonly remedy: string;
}

const TSC = 'node_modules/typescript/bin/tsc';

/** Keeps what the compiler found, so that the next run checks only what the changed files reach. */
function typeCheck(project: string, name: string): readonly string[] {
  return [TSC, '-p', project, '--incremental', '--tsBuildInfoFile', `node_modules/.cache/types-${name}.json`];
}

const OXFMT = 'node_modules/oxfmt/bin/oxfmt';

const STEPS: readonly CheckStep[] = [
  {
    name: 'types',
    about: 'types of everything',
    args: typeCheck('tsconfig.json', 'all'),
    remedy: 'each line above names file, position and rule',
  },
  {
    name: 'types',
    about: 'types of the console: a browser, without Node',
    args: typeCheck('src/console/tsconfig.browser.json', 'console-browser'),
    remedy: 'each line above names file, position and rule',
  },
  {
    name: 'types',
    about: 'types of the console with its tests, which Node runs',
    args: typeCheck('src/console/tsconfig.json', 'console'),
    remedy: 'each line above names file, position and rule',
  },
  {
    name: 'pure',
    about: 'pure files have no timer, socket or clock',
    args: typeCheck('tsconfig.pure.json', 'pure'),
    remedy: 'a pure file, and each that it imports, uses no node: module and no global of a platform',
  },
  {
    name: 'lint',
    about: 'lint with types, warnings are errors',
    args: ['node_modules/oxlint/bin/oxlint', '--deny-warnings', '--no-error-on-unmatched-pattern'],
    remedy: 'rules stand in .oxlintrc.json',
  },
  {
    name: 'format',
    about: 'formatting',
    args: [OXFMT, '--check', '.'],
    remedy: '"npm run check -- --fix" writes the files again',
  },
  {
    name: 'arch',
    about: 'architecture and conformance lists',
    args: [
      '--test',
      '--test-isolation=none',
      '--test-reporter=dot',
      'test/arch/**/*.test.ts',
      'test/conformance/conformance.test.ts',
    ],
    remedy: 'the tables stand in test/arch/',
  },
  {
    name: 'figures',
    about: 'sizes of the tree',
    args: ['tools/figures.ts'],
    remedy: 'limits and goals stand in tools/limit-table.ts',
  },
  {
    name: 'commits',
    about: 'subjects of new commits',
    args: ['tools/commit-subject.ts'],
    remedy: 'CONTRIBUTING.md, "Commits"; "git rebase -i" with "reword" changes a subject',
  },
];

const FIXES: readonly (readonly string[])[] = [
  ['node_modules/oxlint/bin/oxlint', '--fix'],
  [OXFMT, '--write', '.'],
];

/** The exit status: 0 when every step passed, 2 for wrong arguments. */
export async function runCheck(args: readonly string[]): Promise<number> {
  const fix = args.includes('--fix');
  const names = args.filter((arg) => arg !== '--fix');
  const unknown = names.find((name) => !STEPS.some((step) => step.name === name));
  if (unknown !== undefined) {
    const known = [...new Set(STEPS.map((step) => step.name))].join(', ');
    process.stderr.write(`check: no step "${unknown}"; steps: ${known}; option: --fix\n`);
    return 2;
  }
  if (fix) for (const command of FIXES) await runPinned(command);
  const failed: CheckStep[] = [];
  for (const step of STEPS.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const { status, durationMs } = await runPinned(step.args);
    if (status >= 128) return status;
    const verdict = status === 0 ? 'ok    ' : 'FAILED';
    const seconds = (durationMs / 1000).toFixed(1).padStart(5);
    process.stdout.write(`${verdict} ${step.name.padEnd(7)} ${seconds} s  ${step.about}\n`);
    if (status !== 0) failed.push(step);
  }
  for (const step of failed) process.stderr.write(`check: ${step.name} failed: ${step.remedy}\n`);
  return failed.length === 0 ? 0 : 1;
}
