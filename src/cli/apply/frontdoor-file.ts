/** Reads the file of `frontdoor apply`, with all its problems at once. */
import type { PlacedProblem } from '#base/shapes';
import { frontdoorFileSchema, type FrontdoorFile } from '#contract/schemas';
import { isShareName, isZoneName, parseShareTarget, shareNameRule } from '#domain';
import { isPublicStream } from '#domain/backend-modes';
import { invalidFile } from '#domain/invalid-file';
import { checkUpstream } from '#domain/upstream';
import { parseYamlFile, type NamedTextSource } from '#net/yaml-file';

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Throws a `FrontdoorError` with all problems. */
export function parseFrontdoorFile(path: string, text: string, texts: NamedTextSource): FrontdoorFile {
  const parsed = parseYamlFile(text, {
    maxLength: MAX_FILE_BYTES,
    schema: frontdoorFileSchema,
    texts,
    rules,
    whenEmpty: 'must have authProviders, customFrontends or shares',
  });
  if ('value' in parsed) return parsed.value;
  throw invalidFile(path, parsed.problems);
}

function rules({ authProviders = [], customFrontends = [], shares = [] }: FrontdoorFile): PlacedProblem[] {
  const found = [
    ...repeated(
      'authProviders',
      'name',
      authProviders.map(({ name }) => name),
    ),
    ...repeated(
      'customFrontends',
      'hostname',
      customFrontends.map(({ hostname }) => hostname.toLowerCase()),
    ),
    ...repeated(
      'shares',
      'name',
      shares.map(({ name }) => name),
    ),
  ];
  const shareOfDomain = new Map<string, string>();
  for (const [at, share] of shares.entries()) {
    const { name, mode, target, grants = [], domains = [], upstream = {} } = share;
    const place = (field: string): string[] => ['shares', String(at), field];
    if (!isShareName(name)) found.push([place('name'), `must be a ${shareNameRule(name)}`]);
    const parsed = parseShareTarget(target);
    const isStream = parsed !== undefined && isPublicStream(mode, parsed.mode);
    for (const field of ['ingress', 'ingressPort'] as const)
      if (share[field] !== undefined && !isStream)
        found.push([place(field), 'is only for a public share with a tcp:// or udp:// target']);
    if (parsed === undefined)
      found.push([place('target'), 'must be an address such as http://127.0.0.1:3000']);
    if (mode === 'public' && grants.length > 0)
      found.push([place('grants'), 'only a private share has grants']);
    if (mode === 'private' && domains.length > 0)
      found.push([place('domains'), 'only a public share has domains']);
    for (const [nth, domain] of domains.entries()) {
      const placeOfOne = [...place('domains'), String(nth)];
      if (!isZoneName(domain)) found.push([placeOfOne, 'must be a DNS name of two labels or more']);
      const owner = shareOfDomain.get(domain.toLowerCase());
      if (owner !== undefined) found.push([placeOfOne, `is also a domain of the share ${owner}`]);
      shareOfDomain.set(domain.toLowerCase(), name);
    }
    for (const { field, rule } of checkUpstream(upstream))
      found.push([['shares', String(at), 'upstream', field], `must be ${rule}`]);
  }
  return found;
}

function repeated(list: string, field: string, names: readonly string[]): PlacedProblem[] {
  return names.flatMap((name, at): PlacedProblem[] => {
    const first = names.indexOf(name);
    return first === at ? [] : [[[list, String(at), field], `is also the ${field} of ${list}[${first}]`]];
  });
}
