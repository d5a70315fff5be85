/**
 * The version of a program as parts report it to each other and to people: `0.1.0+4b51014bafc2.2026-11-28` is the version with
 * its commit and the day of that commit, as build metadata of semantic versioning.
 */

export interface ProgramVersion {
  readonly version: string;
  /** The whole commit, or its beginning. Undefined where the files do not name it. */
  readonly commit: string | undefined;
  /** The day of the commit in UTC, such as `2026-11-28`. */
  readonly date: string | undefined;
}

/** Enough to find the commit, and short enough for a list. */
const COMMIT_CHARACTERS = 12;
const COMMIT = /^[0-9a-f]{7,}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const NUMBERS = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?=$|[-+])/;

export function versionText({ version, commit, date }: ProgramVersion): string {
  const build = [commit?.slice(0, COMMIT_CHARACTERS), date].filter((part) => part !== undefined);
  return build.length === 0 ? version : `${version}+${build.join('.')}`;
}

/** Any text is a version: what it does not name is undefined. */
export function parseVersionText(text: string): ProgramVersion {
  const [version = '', build = ''] = text.split('+', 2);
  const parts = build.split('.');
  return {
    version,
    commit: parts.find((part) => COMMIT.test(part)),
    date: parts.find((part) => DAY.test(part)),
  };
}

/**
 * How many minor versions `other` is ahead of `version`: negative if it is behind, infinite if the major version differs.
 * Undefined if one of them is no version of three numbers.
 */
export function minorsAhead(version: string, other: string): number | undefined {
  const [from, to] = [NUMBERS.exec(version), NUMBERS.exec(other)];
  if (from === null || to === null) return undefined;
  const majors = Number(to[1]) - Number(from[1]);
  return majors === 0 ? Number(to[2]) - Number(from[2]) : majors * Infinity;
}
