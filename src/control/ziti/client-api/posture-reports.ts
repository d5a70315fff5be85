/**
 * Reads what SDKs report about their device (`posture-response`) in OpenZiti's forms. A report of the wrong form, or longer
 * than its bounds, is refused with its place: `[3].macAddresses`.
 */
import { isJsonObject } from '#base';
import type { PostureReport } from '#domain/posture';
import type { EdgeModel } from '../../overlay/model/mod.ts';
import { invalidParameter, type EdgeApiRefusal } from '../../overlay/clients/mod.ts';

export const MAX_REPORTS = 512;
const MAX_TEXT_CHARS = 1_024;
const MAX_LIST = 256;
const MAX_QUOTED_CHARS = 200;

type Fields = Readonly<Record<string, unknown>>;

/** `place` is '' for a report that comes alone. */
export function postureReportsOf(
  edge: EdgeModel,
  body: unknown,
  place: string,
  nowMs: number,
): PostureReport[] {
  const fields = objectOf(body, place);
  const refused = (field: string, reason: string): EdgeApiRefusal =>
    refusedAt(place, field, fields[field], reason);
  const text = (field: string): string => {
    const value = fields[field] ?? '';
    if (typeof value !== 'string' || value.length > MAX_TEXT_CHARS)
      throw refused(field, `${field} must be a text of at most ${MAX_TEXT_CHARS} characters`);
    return value;
  };
  const texts = (field: string): string[] => {
    const value = fields[field] ?? [];
    const areTexts =
      Array.isArray(value) &&
      value.length <= MAX_LIST &&
      value.every((one) => typeof one === 'string' && one.length <= MAX_TEXT_CHARS);
    if (!areTexts) throw refused(field, `${field} must be a list of at most ${MAX_LIST} texts`);
    return value as string[];
  };
  const flag = (field: string): boolean => {
    const value = fields[field] ?? false;
    if (typeof value !== 'boolean') throw refused(field, `${field} must be true or false`);
    return value;
  };
  const id = text('id');
  switch (fields['typeId']) {
    case 'OS':
      return [{ type: { case: 'os', value: { type: text('type'), version: text('version') } } }];
    case 'DOMAIN':
      return [{ type: { case: 'domain', value: { name: text('domain') } } }];
    case 'MAC':
      return [{ type: { case: 'macs', value: { addresses: texts('macAddresses') } } }];
    case 'PROCESS':
    case 'PROCESS_MULTI': {
      const path = text('path') || pathOf(edge, id);
      if (path === '') throw refused('path', 'path is missing, and id names no check of a process');
      const process = { path, isRunning: flag('isRunning'), hash: text('hash') };
      const processes = [{ ...process, signerFingerprints: texts('signerFingerprints') }];
      return [{ type: { case: 'processList', value: { processes } } }];
    }
    case 'ENDPOINT_STATE': {
      const time = { seconds: BigInt(Math.floor(nowMs / 1_000)) };
      const events = [
        ...(flag('woken') ? ['woken' as const] : []),
        ...(flag('unlocked') ? ['unlocked' as const] : []),
      ];
      return events.map((event) => ({ type: { case: event, value: { time } } }));
    }
    default:
      throw refused('typeId', 'typeId must be one of [OS,DOMAIN,MAC,PROCESS,ENDPOINT_STATE]');
  }
}

/** Old SDKs name the check instead of the process. */
function pathOf(edge: EdgeModel, checkId: string): string {
  const process = edge.get('posture-check', checkId)?.data['process'];
  const path = typeof process === 'object' && process !== null ? (process as Fields)['path'] : undefined;
  return typeof path === 'string' ? path : '';
}

function objectOf(body: unknown, place: string): Fields {
  if (isJsonObject(body)) return body;
  throw refusedAt(place, '', body, 'a report must be an object');
}

function refusedAt(place: string, field: string, value: unknown, reason: string): EdgeApiRefusal {
  const at = place === '' || field === '' ? `${place}${field}` : `${place}.${field}`;
  return invalidParameter(at, reason, (JSON.stringify(value) ?? '').slice(0, MAX_QUOTED_CHARS));
}
