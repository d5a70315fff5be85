/**
 * Compares a value of a file with the value that the Management API returned for it. The API masks secrets, so that a stored
 * secret counts as the wanted one, and it normalizes durations, times and addresses.
 */
import { isJsonObject } from '#base';
import { parseIsoDuration } from '#domain';

const MASK = '********';

/** Returns the wanted value with the mask for each secret that is stored, which keeps it. Entries of lists are found by name. */
export function withStoredSecrets(wanted: unknown, is: unknown): unknown {
  if (is === MASK && typeof wanted === 'string') return MASK;
  if (Array.isArray(wanted)) {
    const stored: readonly unknown[] = Array.isArray(is) ? is : [];
    return wanted.map((each: unknown) =>
      withStoredSecrets(each, isJsonObject(each) ? stored.find((one) => isNamedAs(one, each)) : undefined),
    );
  }
  if (!isJsonObject(wanted)) return wanted;
  const fields = isJsonObject(is) ? is : {};
  return Object.fromEntries(
    Object.entries(wanted).map(([name, each]) => [name, withStoredSecrets(each, fields[name])]),
  );
}

function isNamedAs(one: unknown, other: Readonly<Record<string, unknown>>): boolean {
  return isJsonObject(one) && one['name'] !== undefined && one['name'] === other['name'];
}

/** Names of the wanted fields whose values differ. */
export function differentFields(
  wanted: Readonly<Record<string, unknown>>,
  is: Readonly<Record<string, unknown>>,
): string[] {
  return Object.keys(wanted).filter((name) => !isSameValue(wanted[name], is[name]));
}

function isSameValue(wanted: unknown, is: unknown): boolean {
  if (typeof wanted === 'string' && typeof is === 'string') return isSameText(wanted, is);
  if (Array.isArray(wanted))
    return (
      Array.isArray(is) &&
      wanted.length === is.length &&
      wanted.every((each: unknown, at) => isSameValue(each, is[at]))
    );
  if (!isJsonObject(wanted)) return wanted === is;
  return isJsonObject(is) && differentFields(wanted, is).length === 0;
}

function isSameText(wanted: string, is: string): boolean {
  if (wanted === is) return true;
  if (wanted.includes('@')) return wanted.toLowerCase() === is.toLowerCase();
  if (wanted.includes('-----BEGIN')) return wanted.trim() === is.trim();
  const span = parseIsoDuration(wanted);
  if (span !== undefined) return span === parseIsoDuration(is);
  return /^\d{4}-\d\d-\d\dT/.test(wanted) && Date.parse(wanted) === Date.parse(is);
}
