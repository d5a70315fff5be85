/**
 * Test cases for one field of the router file: YAML text and the expected result of `router check`. The caller states
 * the bounds, so that a mistake in the schema shows.
 */
import assert from 'node:assert/strict';
import { fileWith, type CheckedFolder } from './router-file-fixture.ts';

/** `ok`, or `error RULE` or `warning RULE` at the path of the field. */
export type FieldVerdict = 'ok' | `${'error' | 'warning'} ${string}`;
/** YAML text, or undefined for a missing key; then the path of the problem if it is not that of the field. */
export type Case = readonly [yaml: string | undefined, verdict: FieldVerdict, path?: string];

export type Judge = (field: string, cases: readonly Case[]) => void;

/** Compares the results of `check` for a file in `folder` with the expected ones. */
export function judgeIn(folder: CheckedFolder): Judge {
  return (field, cases) => {
    for (const [yaml, verdict, path = field] of cases) {
      const shown = `${field}: ${yaml ?? '(missing)'}`;
      const { status, problems } = folder.judge(fileWith(field, yaml));
      const here = problems.filter((problem) => problem.path === path);
      const elsewhere = problems.filter(
        (problem) => problem.path !== path && problem.severity === 'error' && !problem.path.startsWith(path),
      );
      const verdicts = here.map(({ severity, rule }) => `${severity} ${rule}`);
      assert.deepEqual(verdicts, verdict === 'ok' ? [] : [verdict], shown);
      assert.deepEqual(elsewhere, [], shown);
      assert.equal(status, verdict.startsWith('error') ? 1 : 0, shown);
      for (const { line, message, value } of here) {
        assert.ok(line >= 1 && message !== '', shown);
        if (yaml === undefined && path === field) assert.equal(value, null, shown);
      }
    }
  };
}

export interface IntegerRow {
  readonly min?: number;
  readonly max?: number;
  /** A value below the minimum causes only a warning. */
  readonly isLenient?: boolean;
  readonly takesFraction?: boolean;
}

export function integerCases({ min, max, isLenient = false, takesFraction = false }: IntegerRow): Case[] {
  return [
    [undefined, 'ok'],
    ['null', 'error type'],
    ['"5"', 'error type'],
    ['5s', 'error type'],
    ['1d', 'error type'],
    ['yes', 'error type'],
    ['[]', 'error type'],
    ['{}', 'error type'],
    ['20.5', 'error type'],
    ['40.0', takesFraction ? 'ok' : 'error type'],
    ...(min === undefined
      ? ([['-5', 'ok']] as Case[])
      : ([
          [String(min - 1), `${isLenient ? 'warning' : 'error'} minimum`],
          [String(min), 'ok'],
          [`0x${min.toString(16)}`, 'ok'],
        ] as Case[])),
    ...(max === undefined
      ? ([['2147483648', 'ok']] as Case[])
      : ([
          [String(max), 'ok'],
          [String(max + 1), 'error maximum'],
        ] as Case[])),
  ];
}

export interface DurationRow {
  readonly negative: FieldVerdict;
  readonly zero: FieldVerdict;
  /** OpenZiti converts these to text first, so a bare 0 is a duration. */
  readonly isZeroBare?: boolean;
  readonly more?: readonly Case[];
}

export function durationCases({ negative, zero, isZeroBare = false, more = [] }: DurationRow): Case[] {
  return [
    [undefined, 'ok'],
    ['null', 'error type'],
    ['5', 'error type'],
    ['1.5', 'error type'],
    ['true', 'error type'],
    ['[5s]', 'error type'],
    ['{}', 'error type'],
    ['"5"', 'error duration'],
    ['1d', 'error duration'],
    ['5 s', 'error duration'],
    ['soon', 'error duration'],
    ['10000000h', 'error duration'],
    ['40s', 'ok'],
    ['0m40s', 'ok'],
    ['-5s', negative],
    ['0s', zero],
    ['0', isZeroBare ? zero : 'error type'],
    ...more,
  ];
}

export const TEXT_ERRORS: readonly Case[] = [
  ['null', 'error type'],
  ['5', 'error type'],
  ['true', 'error type'],
  ['[a]', 'error type'],
  ['{}', 'error type'],
  ['""', 'error text'],
];
export const ofKind = (kind: string): Case[] =>
  TEXT_ERRORS.map(([yaml, verdict]) => [yaml, verdict === 'error text' ? `error ${kind}` : verdict]);

export const LIST_ERRORS: readonly Case[] = [
  ['5', 'error type'],
  ['{}', 'error type'],
];

export const MAP_ERRORS: readonly Case[] = [
  ['5', 'error type'],
  ['text', 'error type'],
  ['[]', 'error type'],
];

export const BAD_ADDRESSES: readonly string[] = [
  'ctrl.example:6262',
  'tls:ctrl.example',
  'tls:ctrl.example:abc',
  'tls:ctrl.example:65536',
  'tls://ctrl.example:1',
  'tls:::1:6262',
  'TLS:ctrl.example:1',
  'transwarp:ctrl.example:1',
];
export const addressCases: readonly Case[] = [
  ...ofKind('address'),
  ...BAD_ADDRESSES.map((text): Case => [JSON.stringify(text), 'error address']),
  ['tls:ctrl.example:0', 'ok'],
  ['tls:ctrl.example:65535', 'ok'],
  ['"tls:[::1]:6262"', 'ok'],
  ['"tls::6262"', 'ok'],
  ['tcp:ctrl.example:1', 'ok'],
  ['dtls:ctrl.example:1', 'ok'],
];

export function hostPortCases(rule: string): Case[] {
  return [
    ...ofKind(rule),
    ['router.example', `error ${rule}`],
    ['":1"', `error ${rule}`],
    ['router.example:65536', `error ${rule}`],
    ['router.example:65535', 'ok'],
    ['"[2001:db8::1]:1"', 'ok'],
  ];
}

/** Cases of the channels of `ctrl`, links and edge listeners. */
export function judgeChannelOptions(judge: Judge, at: string, isLink: boolean, isDialer = false): void {
  const timeout: readonly Case[] = [
    ['29ms', 'error minimum'],
    ['30ms', 'ok'],
    ['60s', 'ok'],
    ['60001ms', 'error maximum'],
  ];
  judge(`${at}.outQueueSize`, [...integerCases({ min: 0, takesFraction: true }), ['1.9', 'error type']]);
  if (isDialer) {
    // A dialer accepts no connections, so only the defaults are valid.
    judge(`${at}.maxQueuedConnects`, [
      ['1', 'ok'],
      ['2', 'warning unsupported'],
    ]);
    judge(`${at}.maxOutstandingConnects`, [
      ['16', 'ok'],
      ['17', 'warning unsupported'],
    ]);
  } else {
    judge(`${at}.maxQueuedConnects`, integerCases(isLink ? { min: 0 } : { min: 1, max: 5_000 }));
    judge(`${at}.maxOutstandingConnects`, integerCases(isLink ? { min: 1 } : { min: 1, max: 1_000 }));
  }
  judge(
    `${at}.connectTimeout`,
    durationCases({ negative: 'error minimum', zero: 'error minimum', more: timeout }),
  );
  judge(`${at}.connectTimeoutMs`, integerCases({ min: 30, max: 60_000 }));
  judge(`${at}.writeTimeout`, durationCases({ negative: 'warning minimum', zero: 'ok' }));
}
