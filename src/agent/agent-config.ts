/** The agent's configuration file: shares that it creates or reclaims at every start. */
import { readFileSync } from 'node:fs';
import { FrontdoorError, messageOf, readHostPort } from '#base';
import { fileProblemLine, Part, Type, type PlacedProblem, type ShapeOf } from '#base/shapes';
import { isShareLabel } from '#domain';
import { checkUpstream, upstreamChangeSchema } from '#domain/upstream';
import { parseYamlFile, type ParsedYamlFile } from '#net/yaml-file';
import { modeProblem, parseTarget } from './target-address.ts';
import { checkNotWritableByOthers } from './state-file.ts';

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;
const MAX_SHARES = 10_000;
const MAX_ACCESSES = 256;

/** The targets that a share can have are those of `targetForms`. */
const ConfiguredShareSchema = Part.closed({
  name: Part.text(),
  mode: Part.oneOf('public', 'private'),
  target: Part.text(),
  /** Environments that may dial it. */
  grants: Type.Optional(Type.Array(Part.someText())),
  /** How requests reach the service, with the fields of the API. Absent fields keep their values. */
  upstream: Type.Optional(upstreamChangeSchema),
});

const ConfiguredAccessSchema = Part.closed({
  /** Name or token of a private share that this environment may dial. */
  share: Part.text(),
  /** HOST:PORT on this machine, at which it is accessible. */
  listen: Part.text(),
  /** `udp` for a share of datagrams; `tcp` by default. */
  protocol: Type.Optional(Part.oneOf('tcp', 'udp')),
});

const AgentConfigSchema = Part.closed({
  shares: Type.Array(ConfiguredShareSchema, { maxItems: MAX_SHARES }),
  accesses: Type.Optional(Type.Array(ConfiguredAccessSchema, { maxItems: MAX_ACCESSES })),
});

export type AgentConfig = ShapeOf<typeof AgentConfigSchema>;
export type ConfiguredShare = ShapeOf<typeof ConfiguredShareSchema>;

/** Throws a `FrontdoorError` with all problems. */
export function loadAgentConfig(path: string): AgentConfig {
  let text: string;
  try {
    checkNotWritableByOthers(path);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof FrontdoorError) throw error;
    throw new FrontdoorError('invalid', 'config-unreadable', `cannot read ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const parsed = parseAgentConfig(text);
  if ('value' in parsed) return parsed.value;
  const lines = parsed.problems.map((problem) => `  ${fileProblemLine(path, problem)}`);
  throw new FrontdoorError('invalid', 'config-invalid', `${path} has problems:\n${lines.join('\n')}`);
}

export function parseAgentConfig(text: string): ParsedYamlFile<AgentConfig> {
  return parseYamlFile(text, {
    maxLength: MAX_CONFIG_BYTES,
    schema: AgentConfigSchema,
    rules: crossProblems,
    whenEmpty: 'must contain a list named shares',
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
  for (const [i, share] of config.shares.entries()) {
    const at = (field: string): string[] => ['shares', String(i), field];
    const parsed = parseTarget(share.target);
    const problem =
      'problem' in parsed
        ? parsed.problem.replace(/^target ".*?" /, '')
        : modeProblem(share.mode, parsed.target);
    if (problem !== undefined) found.push([at('target'), problem]);
    for (const { field, rule } of checkUpstream(share.upstream ?? {}))
      found.push([['shares', String(i), 'upstream', field], `must be ${rule}`]);
    if (share.mode === 'public' && (share.grants ?? []).length > 0)
      found.push([at('grants'), 'only a private share has grants']);
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
