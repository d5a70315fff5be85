/**
 * Versions (semver 2.0) and the ranges of posture checks: `>=10.0.0 <11.0.0 || 12.x`. A space means and; operators are
 * those of OpenZiti (`=`, `==`, `!`, `!=`, `<`, `<=`, `>`, `>=`; none means equal).
 */
interface Version {
  /** Major, minor and patch. */
  readonly numbers: readonly [number, number, number];
  readonly preRelease: readonly string[];
}

const MAX_CHARACTERS = 256;
const VERSION = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;
const COMPARISON = /^(==|=|!=|!|<=|<|>=|>)?(\d.*)$/;
const WILDCARD = /^(\d{1,15})\.(?:(\d{1,15})\.)?[xX*]$/;

/** True if the version is in the range. False if either cannot be parsed. */
export function isVersionIn(version: string, range: string): boolean {
  if (range.length > MAX_CHARACTERS) return false;
  const given = parseVersion(version);
  if (given === undefined) return false;
  return alternativesOf(range).some((comparisons) =>
    comparisons.every((comparison) => holds(given, comparison)),
  );
}

/** Whether each comparison of the range can be parsed. */
export function isVersionRange(range: string): boolean {
  if (range.length > MAX_CHARACTERS) return false;
  return alternativesOf(range).every((comparisons) =>
    comparisons.every((comparison) => {
      const version = COMPARISON.exec(comparison)?.[2];
      return version !== undefined && (WILDCARD.test(version) || parseVersion(version) !== undefined);
    }),
  );
}

function alternativesOf(range: string): string[][] {
  return range.split('||').map((alternative) =>
    alternative
      .trim()
      // An operator may stand apart from its version.
      .replace(/([<>=!])\s+/g, '$1')
      .split(/\s+/),
  );
}

function parseVersion(text: string): Version | undefined {
  const match = text.length > MAX_CHARACTERS ? null : VERSION.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, preRelease = ''] = match;
  const numbers = [Number(major), Number(minor), Number(patch)] as const;
  return { numbers, preRelease: preRelease === '' ? [] : preRelease.split('.') };
}

function holds(given: Version, comparison: string): boolean {
  const match = COMPARISON.exec(comparison);
  if (match === null) return false;
  const [, operator = '=', text] = match;
  const wildcard = WILDCARD.exec(text!);
  const [low, high] = wildcard === null ? [parseVersion(text!), undefined] : boundsOf(wildcard);
  if (low === undefined) return false;
  const isBelow = compareVersions(given, low) < 0;
  // `high` is the first version after those that a wildcard covers.
  const isAbove = high === undefined ? compareVersions(given, low) > 0 : compareVersions(given, high) >= 0;
  switch (operator) {
    case '<':
      return isBelow;
    case '<=':
      return !isAbove;
    case '>':
      return isAbove;
    case '>=':
      return !isBelow;
    case '!':
    case '!=':
      return isBelow || isAbove;
    default:
      return !isBelow && !isAbove;
  }
}

function boundsOf([, major, minor]: RegExpExecArray): [Version, Version] {
  const first = Number(major);
  if (minor === undefined) return [release(first, 0), release(first + 1, 0)];
  return [release(first, Number(minor)), release(first, Number(minor) + 1)];
}

function release(major: number, minor: number): Version {
  return { numbers: [major, minor, 0], preRelease: [] };
}

function compareVersions(a: Version, b: Version): number {
  for (const [at, number] of a.numbers.entries()) {
    if (number !== b.numbers[at]) return number - b.numbers[at]!;
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0)
    return Number(a.preRelease.length === 0) - Number(b.preRelease.length === 0);
  for (const [at, part] of a.preRelease.entries()) {
    const other = b.preRelease[at];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return a.preRelease.length - b.preRelease.length;
}

/** Numbers come before texts. */
function compareParts(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
