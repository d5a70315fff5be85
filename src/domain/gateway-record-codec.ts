/**
 * Decodes reports of single requests from gateways, checked field by field and bounded in every direction before
 * they are stored. A string result states the problem.
 */
import {
  MAX_INSPECTED_BODY_BYTES,
  MAX_RECORD_BATCH,
  type InspectedRequest,
  type RequestFailure,
} from './gateway-records.ts';

type Check = (value: unknown) => boolean;

const MAX_HEADERS = 400;
const MAX_HEADER_CHARS = 131_072;
/** Length in base64. Redacted text may be longer than the original. */
const MAX_BODY_CHARS = 4 * MAX_INSPECTED_BODY_BYTES;

const text =
  (max: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= max;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const whole =
  (max: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;
const milliseconds: Check = (value) => typeof value === 'number' && value >= 0 && value < 1e12;
const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isRecord(value) &&
    Object.keys(value).length === Object.keys(checks).length &&
    Object.entries(checks).every(([name, check]) => check(value[name]));

const timings = fields({
  decidedMs: orNull(milliseconds),
  circuitMs: orNull(milliseconds),
  firstByteMs: orNull(milliseconds),
  doneMs: orNull(milliseconds),
});
const why = { code: text(100), hop: text(20), cause: text(2_000) };
const common = {
  id: (value: unknown) => typeof value === 'string' && /^[A-Za-z0-9_-]{8,64}$/.test(value),
  at: whole(1e14),
  shareId: text(100),
  frontdoorId: text(100),
  status: whole(999),
  method: text(32),
  host: text(300),
  client: text(100),
  identity: orNull(text(1_000)),
  decision: text(1_000),
  traceId: orNull(text(32)),
  timings,
};
const message = fields({
  headers: (value) =>
    Array.isArray(value) &&
    value.length <= MAX_HEADERS &&
    value.every(isHeader) &&
    value.reduce((sum: number, [name, said]: [string, string]) => sum + name.length + said.length, 0) <=
      MAX_HEADER_CHARS,
  body: text(MAX_BODY_CHARS),
  bodyBytes: whole(Number.MAX_SAFE_INTEGER),
  isTruncated: (value) => typeof value === 'boolean',
});

const isFailure = fields({ ...common, ...why, path: text(8_192) });
const isInspected = fields({
  ...common,
  replayOf: orNull(text(64)),
  target: text(16_384),
  failure: orNull(fields(why)),
  request: message,
  answer: message,
});

export function parseFailures(body: unknown): readonly RequestFailure[] | string {
  return listOf<RequestFailure>(body, 'failures', isFailure);
}

export function parseInspections(body: unknown): readonly InspectedRequest[] | string {
  return listOf<InspectedRequest>(body, 'requests', isInspected);
}

function listOf<T>(body: unknown, name: string, check: Check): readonly T[] | string {
  const list = isRecord(body) ? body[name] : undefined;
  if (!Array.isArray(list)) return `${name} is not a list`;
  if (list.length > MAX_RECORD_BATCH) return `more than ${MAX_RECORD_BATCH} ${name}`;
  const wrong = list.findIndex((each) => !check(each));
  return wrong === -1 ? (list as T[]) : `${name}[${wrong}] is malformed`;
}

function isHeader(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
