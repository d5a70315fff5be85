/** The agent's configuration file: the shares and accesses of this machine. */
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FrontdoorError, messageOf, readHostPort } from '#base';
import type { PlacedProblem } from '#base/shapes';
import { agentFileSchema, type AgentConfig } from '#contract/schemas';
import { isShareLabel, isZoneName } from '#domain';
import { isPublicStream } from '#domain/backend-modes';
import { invalidFile } from '#domain/invalid-file';
import { checkUpstream } from '#domain/upstream';
import { checkNotWritableByOthers } from '#net/files';
import { parseYamlFile, type NamedTextSource, type ParsedYamlFile } from '#net/yaml-file';
import { modeProblem, parseTarget } from './target-address.ts';

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

/** Throws a `FrontdoorError` with all problems. */
export function loadAgentConfig(path: string, env: NamedTextSource['env'] = {}): AgentConfig {
  let text: string;
  try {
    checkNotWritableByOthers(path, statSync(path));
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof FrontdoorError) throw error;
    throw new FrontdoorError('invalid', 'config-unreadable', `cannot read ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const parsed = parseAgentConfig(text, { folder: dirname(path), env });
  if ('value' in parsed) return parsed.value;
  throw invalidFile(path, parsed.problems);
}

export function parseAgentConfig(
  text: string,
  texts: NamedTextSource = { folder: '.', env: {} },
): ParsedYamlFile<AgentConfig> {
  return parseYamlFile(text, {
    maxLength: MAX_CONFIG_BYTES,
    schema: agentFileSchema,
    texts,
    rules: crossProblems,
    whenEmpty: 'must contain a list named shares, or a section named agent',
  });
}

function crossProblems(config: AgentConfig): readonly PlacedProblem[] {
  const found: PlacedProblem[] = [];
  for (const [i, { share, listen }] of (config.accesses ?? []).entries()) {
    const address = readHostPort(listen);
    if (address === undefined || address.port === 0)
      found.push([['accesses', String(i), 'listen'], 'must be HOST:PORT, such as 127.0.0.1:9000']);
    const first = config.accesses!.findIndex((one) => one.share === share);
    if (first < i) found.push([['accesses', String(i), 'share'], `is also the share of accesses[${first}]`]);
  }
  const names = new Map<string, number>();
  for (const [i, share] of (config.shares ?? []).entries()) {
    const at = (field: string): string[] => ['shares', String(i), field];
    const parsed = parseTarget(share.target);
    const problem =
      'problem' in parsed
        ? parsed.problem.replace(/^target ".*?" /, '')
        : modeProblem(share.mode, parsed.target);
    if (problem !== undefined) found.push([at('target'), problem]);
    for (const { field, rule } of checkUpstream(share.upstream ?? {}))
      found.push([['shares', String(i), 'upstream', field], `must be ${rule}`]);
    for (const [nth, domain] of (share.domains ?? []).entries())
      if (!isZoneName(domain))
        found.push([
          ['shares', String(i), 'domains', String(nth)],
          'must be a DNS name of two labels or more',
        ]);
    const isStream = 'target' in parsed && isPublicStream(share.mode, parsed.target.mode);
    for (const field of ['ingress', 'ingressPort'] as const)
      if (share[field] !== undefined && !isStream)
        found.push([at(field), 'is only for a public share with a tcp:// or udp:// target']);
    if (share.mode === 'private' && (share.domains ?? []).length > 0)
      found.push([at('domains'), 'only a public share has domains']);
    if (share.mode === 'public' && (share.grants ?? []).length > 0)
      found.push([at('grants'), 'only a private share has grants']);
    if (share.policy !== undefined && share.sharedPolicy !== undefined)
      found.push([at('sharedPolicy'), 'a share has either this or "policy"']);
    for (const field of ['authProviders', 'policy', 'sharedPolicy'] as const)
      if (share.mode === 'private' && share[field] !== undefined)
        found.push([at(field), 'only a public share has it; a private one is for its grants']);
    // Rules for new names only are left to the control plane, because this share may be older.
    if (!isShareLabel(share.name)) {
      found.push([at('name'), 'must be 1 to 63 of a-z, 0-9 and -, no - at either end, and no reserved word']);
    }
    const first = names.get(share.name);
    if (first === undefined) names.set(share.name, i);
    else found.push([at('name'), `is also the name of shares[${first}]`]);
  }
  return found;
}
