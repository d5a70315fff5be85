/**
 * The limits of sizes, which architecture tests and `figures.ts` share, and the goals for the size of the whole. A limit is never
 * exceeded; a goal is where the tree shall be.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './source-tree.ts';

const { rules } = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as {
  readonly rules: { readonly 'max-lines-per-function': readonly [string, { readonly max: number }] };
};

export const LIMITS = {
  fileLines: 400,
  testLines: 600,
  /** Lint holds it. */
  functionLines: rules['max-lines-per-function'][1].max,
  doorNames: 80,
  contextFields: 12,
} as const;

/** Hand-written lines of product code. */
export const GOALS = { source: 150_000, control: 50_000 } as const;

/** Parameter objects with more fields, and why. */
export const LARGER_CONTEXTS: ReadonlyMap<string, string> = new Map([
  [
    'ControlPlaneOptions',
    'the options of the command line, each passed on by wiring/ to the one part that it concerns',
  ],
  ['ApiParts', 'no operation takes it whole: each names what it uses by Pick'],
  ['ManagementApiOptions', 'the parts of ApiParts that are made outside, and the options of the server'],
  ['OpenedApiParts', 'ApiParts, with what is closed'],
]);
