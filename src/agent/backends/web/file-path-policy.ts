/** Which path below a folder a request names, and which names are served. Pure. */

/** Names that are served although they begin with a dot, at the top of the folder (RFC 8615). */
const WELL_KNOWN = '.well-known';

export interface FilePath {
  readonly names: readonly string[];
  /** Whether the path ends in `/`, so that it names a folder. */
  readonly isFolder: boolean;
  /** What follows the path, with its `?`; may be empty. */
  readonly query: string;
}

/** Returns undefined for a text that is not a path, and for names that no file is served under. */
export function parseFilePath(requested: string): FilePath | undefined {
  const at = requested.indexOf('?');
  const path = at < 0 ? requested : requested.slice(0, at);
  if (!path.startsWith('/') || path.includes('#')) return undefined;
  const names = path.slice(1).split('/').map(decoded);
  const isFolder = names.at(-1) === '';
  if (isFolder) names.pop();
  if (!names.every((name) => name !== undefined && isName(name))) return undefined;
  const known = names as string[];
  return isServed(known) ? { names: known, isFolder, query: at < 0 ? '' : requested.slice(at) } : undefined;
}

/** Whether none of the names is hidden. */
export function isServed(names: readonly string[]): boolean {
  return names.every((name, at) => !name.startsWith('.') || (at === 0 && name === WELL_KNOWN));
}

/** The path with which a browser asks for the names. */
export function pathOf(names: readonly string[], isFolder: boolean): string {
  const path = `/${names.map(encodeURIComponent).join('/')}`;
  return isFolder && names.length > 0 ? `${path}/` : path;
}

/** The encodings of a request, best first, in which a file may be stored beside its original. */
export function storedEncodings(accepted: string | undefined): readonly StoredEncoding[] {
  if (accepted === undefined) return [];
  const refused = new Set<string>();
  const named = new Set<string>();
  for (const each of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim());
    named.add(name);
    if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) refused.add(name);
  }
  return ENCODINGS.filter(({ encoding }) => {
    const said = named.has(encoding) ? encoding : '*';
    return named.has(said) && !refused.has(said);
  });
}

export interface StoredEncoding {
  readonly encoding: string;
  readonly ending: string;
}

const ENCODINGS: readonly StoredEncoding[] = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
];

/** A name of one file or folder, so that no path has two readings. */
function isName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  return name !== '' && !/[\u0000-\u001f\u007f/\\]/.test(name);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
